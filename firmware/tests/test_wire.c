#include <string.h>

#include "../src/logic/cobs.h"
#include "../src/logic/crc.h"
#include "../src/logic/frame.h"
#include "check.h"

static void the_crc_is_that_of_the_catalogue(void)
{
    EQUAL(crc_of((const uint8_t *)"123456789", 9), 0x29B1);
    EQUAL(crc_of((const uint8_t *)"", 0), 0xFFFF);
}

static void cobs_gives_back_what_it_was_given(void)
{
    uint8_t seed = 1;

    for (uint8_t length = 0; length <= FRAME_MAX; length++) {
        uint8_t plain[FRAME_MAX];
        uint8_t coded[FRAME_MAX + 1];
        uint8_t used;

        for (uint8_t i = 0; i < length; i++) {
            seed = (uint8_t)(seed * 37u + 11u);
            plain[i] = seed % 3u == 0 ? 0 : seed;
        }
        used = cobs_encode(coded, plain, length);

        EQUAL(used, length + 1);
        CHECK(memchr(coded, 0, used) == NULL);
        EQUAL(cobs_decode(coded, used), length);
        EQUAL(memcmp(coded, plain, length), 0);
    }
}

static void cobs_refuses_a_code_that_points_beyond_the_end(void)
{
    uint8_t beyond[] = {3, 1};
    uint8_t zero[] = {2, 1, 0};

    EQUAL(cobs_decode(beyond, sizeof beyond), COBS_BAD);
    EQUAL(cobs_decode(zero, sizeof zero), COBS_BAD);
}

static struct frame a_frame(void)
{
    struct frame frame = {.length = 5, .sequence = 7, .type = 2, .body = {0, 144, 1, 0, 0}};

    return frame;
}

static enum decoder_result take_all(struct decoder *decoder, const uint8_t *bytes, uint8_t length, struct frame *frame)
{
    enum decoder_result last = DECODER_MORE;

    for (uint8_t i = 0; i < length; i++) {
        enum decoder_result now = decoder_take(decoder, bytes[i], frame);

        last = now == DECODER_MORE ? last : now;
    }
    return last;
}

static void a_frame_is_read_as_it_was_written(void)
{
    struct frame sent = a_frame();
    struct frame read;
    struct decoder decoder;
    uint8_t wire[FRAME_WIRE_MAX];

    decoder_start(&decoder);
    EQUAL(take_all(&decoder, wire, frame_write(&sent, wire), &read), DECODER_FRAME);

    EQUAL(read.length, 5);
    EQUAL(read.sequence, 7);
    EQUAL(read.type, 2);
    EQUAL(memcmp(read.body, sent.body, 5), 0);
}

static void the_longest_frame_fits_and_one_byte_more_is_damaged(void)
{
    struct frame sent = {.length = PROTOCOL_MAX_BODY, .sequence = 1, .type = 0xFF};
    struct frame read;
    struct decoder decoder;
    uint8_t wire[FRAME_WIRE_MAX + 1];
    uint8_t length;

    memset(sent.body, 0xEE, sizeof sent.body);
    length = frame_write(&sent, wire);
    EQUAL(length, FRAME_WIRE_MAX);
    decoder_start(&decoder);
    EQUAL(take_all(&decoder, wire, length, &read), DECODER_FRAME);

    wire[length - 1] = 1;
    wire[length] = 0;
    EQUAL(take_all(&decoder, wire, (uint8_t)(length + 1), &read), DECODER_DAMAGED);
}

static void every_single_bit_error_is_found(void)
{
    struct frame sent = a_frame();
    struct frame read;
    uint8_t wire[FRAME_WIRE_MAX];
    uint8_t length = frame_write(&sent, wire);

    for (unsigned bit = 8; bit < 8u * (length - 1u); bit++) {
        struct decoder decoder;

        decoder_start(&decoder);
        wire[bit / 8u] = (uint8_t)(wire[bit / 8u] ^ (1u << (bit % 8u)));
        CHECK(take_all(&decoder, wire, length, &read) == DECODER_DAMAGED);
        wire[bit / 8u] = (uint8_t)(wire[bit / 8u] ^ (1u << (bit % 8u)));
    }
}

static void after_any_cut_the_next_frame_is_read(void)
{
    struct frame sent = a_frame();
    struct frame read;
    uint8_t wire[FRAME_WIRE_MAX];
    uint8_t length = frame_write(&sent, wire);

    for (uint8_t cut = 0; cut < length; cut++) {
        struct decoder decoder;

        decoder_start(&decoder);
        (void)take_all(&decoder, wire, cut, &read);
        EQUAL(take_all(&decoder, wire, length, &read), DECODER_FRAME);
    }
}

static void after_a_flood_without_an_end_the_next_frame_is_read(void)
{
    struct frame sent = a_frame();
    struct frame read;
    struct decoder decoder;
    uint8_t wire[FRAME_WIRE_MAX];
    uint8_t length = frame_write(&sent, wire);

    decoder_start(&decoder);
    for (unsigned i = 0; i < 5000; i++) {
        CHECK(decoder_take(&decoder, 0x55, &read) == DECODER_MORE);
    }
    EQUAL(decoder_take(&decoder, 0, &read), DECODER_DAMAGED);
    EQUAL(take_all(&decoder, wire, length, &read), DECODER_FRAME);
}

static void a_length_that_does_not_fit_is_damaged_though_the_crc_is_right(void)
{
    for (unsigned said = 0; said < 256; said++) {
        uint8_t plain[8] = {(uint8_t)said, 1, 2, 9, 9, 9};
        uint8_t wire[10];
        uint8_t used;
        struct decoder decoder;
        struct frame read;

        protocol_put_u16(plain + 6, crc_of(plain, 6));
        used = cobs_encode(wire, plain, sizeof plain);
        wire[used] = 0;
        decoder_start(&decoder);
        EQUAL(take_all(&decoder, wire, (uint8_t)(used + 1), &read), said == 3 ? DECODER_FRAME : DECODER_DAMAGED);
    }
}

const struct test wire_tests[] = {
    TEST(the_crc_is_that_of_the_catalogue),
    TEST(cobs_gives_back_what_it_was_given),
    TEST(cobs_refuses_a_code_that_points_beyond_the_end),
    TEST(a_frame_is_read_as_it_was_written),
    TEST(the_longest_frame_fits_and_one_byte_more_is_damaged),
    TEST(every_single_bit_error_is_found),
    TEST(after_any_cut_the_next_frame_is_read),
    TEST(after_a_flood_without_an_end_the_next_frame_is_read),
    TEST(a_length_that_does_not_fit_is_damaged_though_the_crc_is_right),
    {0},
};
