#include "frame.h"

#include "cobs.h"
#include "crc.h"

uint8_t frame_write(const struct frame *frame, uint8_t *wire)
{
    uint8_t plain[FRAME_MAX];
    uint8_t used = 0;
    uint8_t encoded;
    uint16_t crc;

    plain[used++] = frame->length;
    plain[used++] = frame->sequence;
    plain[used++] = frame->type;
    for (uint8_t i = 0; i < frame->length; i++) {
        plain[used++] = frame->body[i];
    }
    crc = crc_of(plain, used);
    protocol_put_u16(plain + used, crc);
    used = (uint8_t)(used + FRAME_CRC);

    wire[0] = 0;
    encoded = cobs_encode(wire + 1, plain, used);
    wire[1 + encoded] = 0;
    return (uint8_t)(encoded + 2);
}

void decoder_start(struct decoder *decoder)
{
    decoder->used = 0;
    decoder->too_long = false;
}

static bool decoder_read(struct decoder *decoder, struct frame *frame)
{
    uint8_t length = cobs_decode(decoder->bytes, decoder->used);
    const uint8_t *bytes = decoder->bytes;

    if (length == COBS_BAD || length < FRAME_HEAD + FRAME_CRC || length > FRAME_MAX) {
        return false;
    }
    if (bytes[0] != length - FRAME_HEAD - FRAME_CRC) {
        return false;
    }
    if (crc_of(bytes, (uint8_t)(length - FRAME_CRC)) != protocol_u16(bytes + length - FRAME_CRC)) {
        return false;
    }
    frame->length = bytes[0];
    frame->sequence = bytes[1];
    frame->type = bytes[2];
    for (uint8_t i = 0; i < frame->length; i++) {
        frame->body[i] = bytes[FRAME_HEAD + i];
    }
    return true;
}

enum decoder_result decoder_take(struct decoder *decoder, uint8_t byte, struct frame *frame)
{
    enum decoder_result result = DECODER_DAMAGED;

    if (byte != 0) {
        if (decoder->used < sizeof decoder->bytes) {
            decoder->bytes[decoder->used] = byte;
            decoder->used++;
        } else {
            decoder->too_long = true;
        }
        return DECODER_MORE;
    }
    if (decoder->used == 0) {
        return DECODER_MORE;
    }
    if (!decoder->too_long && decoder_read(decoder, frame)) {
        result = DECODER_FRAME;
    }
    decoder_start(decoder);
    return result;
}
