/* Any bytes on the wire, against the whole board: it never crashes, and no output moves unless a good frame came. */
#include <stdlib.h>
#include <string.h>

#include "fake_chip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t end[1] = {0};
    struct decoder decoder;
    struct frame frame;
    struct frame again;
    uint8_t wire[FRAME_WIRE_MAX];
    unsigned good = 0;
    unsigned changes;

    fake_chip_new();
    fake_chip_boot(RESET_CAUSE_POWER_ON);
    changes = chip.output_changes;

    decoder_start(&decoder);
    for (size_t i = 0; i < size; i++) {
        if (decoder_take(&decoder, data[i], &frame) == DECODER_FRAME) {
            good++;
            if (frame.length > PROTOCOL_MAX_BODY) {
                abort();
            }
            /* What was read is read again from what is written of it. */
            struct decoder second;
            uint8_t length = frame_write(&frame, wire);
            enum decoder_result result = DECODER_MORE;

            decoder_start(&second);
            for (uint8_t at = 0; at < length; at++) {
                result = decoder_take(&second, wire[at], &again);
            }
            if (result != DECODER_FRAME || memcmp(&frame, &again, FRAME_HEAD + frame.length) != 0) {
                abort();
            }
        }
    }

    fake_chip_receive(data, size);
    fake_chip_run(20);
    if (good == 0 && chip.output_changes != changes) {
        abort();
    }
    /* Within one frame it is in step again. What it said before may have had any sequence. */
    fake_chip_receive(end, sizeof end);
    while (fake_chip_sent(&frame)) {
    }
    if (!fake_chip_ask(TYPE_HELLO_REQUEST, NULL, 0, &frame) || frame.type != TYPE_HELLO_ANSWER) {
        abort();
    }
    return 0;
}
