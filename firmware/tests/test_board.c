#include <string.h>

#include "../src/logic/lightness.h"
#include "../src/logic/protocol.h"
#include "check.h"
#include "fake_chip.h"

static struct frame answer;

static void new_board(void)
{
    fake_chip_new();
    fake_chip_boot(RESET_CAUSE_POWER_ON);
}

static void set(uint8_t channel, uint16_t level, uint16_t fade)
{
    uint8_t body[5] = {channel};

    protocol_put_u16(body + 1, level);
    protocol_put_u16(body + 3, fade);
    CHECK(fake_chip_ask(TYPE_SET_REQUEST, body, sizeof body, &answer));
    EQUAL(answer.type, TYPE_SET_ANSWER);
}

static void set_safe(uint8_t channel, uint16_t level, uint8_t boot_level)
{
    uint8_t body[4] = {channel};

    protocol_put_u16(body + 1, level);
    body[3] = boot_level;
    CHECK(fake_chip_ask(TYPE_SAFE_REQUEST, body, sizeof body, &answer));
    EQUAL(answer.type, TYPE_SAFE_ANSWER);
    fake_chip_run(100);
}

static void a_board_that_starts_says_so_and_is_dark(void)
{
    struct frame event;

    new_board();
    CHECK(chip.driving);
    CHECK(fake_chip_sent(&event));
    EQUAL(event.type, TYPE_BOOTED_EVENT);
    EQUAL(event.sequence, 0);
    for (uint8_t i = 0; i < DIM_CHANNELS; i++) {
        EQUAL(chip.counts[i], 0);
    }
    CHECK(!chip.relays[0] && !chip.relays[1]);
}

/* A relay board that is on at low would click. */
static void every_output_has_its_level_before_it_drives(void)
{
    new_board();
    EQUAL(chip.set_before_driving, CHANNELS);
    set(6, 1000, 0);
    fake_chip_boot(RESET_CAUSE_EXTERNAL);
    EQUAL(chip.set_before_driving, CHANNELS);
    EQUAL(chip.output_changes, CHANNELS);
    CHECK(chip.relays[0]);
}

static void a_set_reaches_the_pin_before_it_is_answered(void)
{
    new_board();
    set(0, 400, 0);
    EQUAL(chip.counts[0], lightness_counts(400, 8192, 8));
    set(6, 1000, 0);
    CHECK(chip.relays[0] && !chip.relays[1]);
}

static void a_fade_moves_the_pin_in_time(void)
{
    new_board();
    set(0, 1000, 100);
    fake_chip_run(500);
    CHECK(chip.counts[0] > lightness_counts(490, 8192, 8) && chip.counts[0] < lightness_counts(510, 8192, 8));
    fake_chip_run(510);
    EQUAL(chip.counts[0], 8192);
}

static void a_reset_without_loss_of_power_keeps_the_levels(void)
{
    static const uint8_t causes[] = {RESET_CAUSE_EXTERNAL, RESET_CAUSE_WATCHDOG, RESET_CAUSE_BROWN_OUT, 0};

    for (unsigned i = 0; i < sizeof causes; i++) {
        new_board();
        set(2, 700, 0);
        set(7, 1000, 0);
        fake_chip_boot(causes[i]);
        EQUAL(chip.counts[2], lightness_counts(700, 256, 1));
        CHECK(chip.relays[1]);
    }
}

static void a_reset_in_a_fade_goes_to_where_the_fade_went(void)
{
    new_board();
    set(0, 1000, 1000);
    fake_chip_run(100);
    fake_chip_boot(RESET_CAUSE_EXTERNAL);
    EQUAL(chip.counts[0], 8192);
}

static void after_a_loss_of_power_each_channel_does_as_it_was_told(void)
{
    new_board();
    set_safe(0, 300, BOOT_LEVEL_OFF);
    set_safe(1, 300, BOOT_LEVEL_SAFE);
    set_safe(2, 300, BOOT_LEVEL_LAST);
    set_safe(6, 1000, BOOT_LEVEL_SAFE);
    set_safe(7, 0, BOOT_LEVEL_LAST);
    for (uint8_t i = 0; i < 3; i++) {
        set(i, 800, 0);
    }
    set(7, 1000, 0);
    fake_chip_run(10000);
    fake_chip_lose_power();
    fake_chip_boot(RESET_CAUSE_POWER_ON);

    EQUAL(chip.counts[0], 0);
    EQUAL(chip.counts[1], lightness_counts(300, 8192, 8));
    EQUAL(chip.counts[2], lightness_counts(800, 256, 1));
    CHECK(chip.relays[0] && chip.relays[1]);
}

static void levels_are_written_only_where_a_channel_boots_to_its_last(void)
{
    unsigned before;

    new_board();
    fake_chip_run(1000);
    before = chip.eeprom_writes;
    set(0, 800, 0);
    fake_chip_run(120000);
    EQUAL(chip.eeprom_writes, before);
}

static void a_slider_does_not_wear_the_eeprom(void)
{
    unsigned before;

    new_board();
    set_safe(0, 0, BOOT_LEVEL_LAST);
    before = chip.eeprom_writes;
    for (uint16_t i = 0; i < 600; i++) { /* a minute of ten levels a second */
        set(0, (uint16_t)(i % 1000u), 0);
        fake_chip_run(100);
    }
    CHECK(chip.eeprom_writes - before <= 2u * 20u);
}

static void set_silence(uint8_t tenths)
{
    CHECK(fake_chip_ask(TYPE_SILENCE_REQUEST, (const uint8_t[]){tenths, 0}, 2, &answer));
    EQUAL(answer.type, TYPE_SILENCE_ANSWER);
    fake_chip_run(100);
}

/* A host says all of it at every start. */
static void settings_are_written_when_they_change_and_only_then(void)
{
    unsigned before;

    new_board();
    set_safe(0, 300, BOOT_LEVEL_OFF);
    set_silence(20);
    before = chip.eeprom_writes;
    for (unsigned i = 0; i < 50; i++) {
        set_safe(0, 300, BOOT_LEVEL_OFF);
        set_silence(20);
    }
    EQUAL(chip.eeprom_writes, before);

    set_safe(0, 301, BOOT_LEVEL_OFF);
    CHECK(chip.eeprom_writes > before);
    before = chip.eeprom_writes;
    set_safe(0, 301, BOOT_LEVEL_SAFE);
    CHECK(chip.eeprom_writes > before);
    before = chip.eeprom_writes;
    set_silence(21);
    CHECK(chip.eeprom_writes > before);
}

static void a_silent_host_leaves_the_lamps_at_their_safe_level(void)
{
    new_board();
    set_safe(0, 200, BOOT_LEVEL_OFF);
    CHECK(fake_chip_ask(TYPE_SILENCE_REQUEST, (const uint8_t[]){20, 0}, 2, &answer));
    set(0, 900, 0);
    set(6, 1000, 0);
    fake_chip_run(1800);
    EQUAL(chip.counts[0], lightness_counts(900, 8192, 8));
    fake_chip_run(400);
    EQUAL(chip.counts[0], lightness_counts(200, 8192, 8));
    CHECK(!chip.relays[0]);

    CHECK(fake_chip_ask(TYPE_STATS_REQUEST, NULL, 0, &answer));
    EQUAL(protocol_u16(answer.body + 8), 1);
}

static void garbage_is_not_a_host_that_speaks(void)
{
    static const uint8_t garbage[] = {1, 2, 3, 0, 200, 0, 0};

    new_board();
    set_safe(0, 200, BOOT_LEVEL_OFF);
    CHECK(fake_chip_ask(TYPE_SILENCE_REQUEST, (const uint8_t[]){10, 0}, 2, &answer));
    set(0, 900, 0);
    for (unsigned i = 0; i < 15; i++) {
        fake_chip_receive(garbage, sizeof garbage);
        fake_chip_run(100);
    }
    EQUAL(chip.counts[0], lightness_counts(200, 8192, 8));
}

static void garbage_moves_no_output_and_the_next_frame_is_answered(void)
{
    static uint8_t garbage[20000];
    unsigned changes;
    uint32_t seed = 7;

    new_board();
    set(0, 500, 0);
    changes = chip.output_changes;
    for (size_t i = 0; i < sizeof garbage; i++) {
        seed = seed * 1664525u + 1013904223u;
        garbage[i] = (uint8_t)(seed >> 24);
    }
    fake_chip_receive(garbage, sizeof garbage);
    fake_chip_run(100);
    EQUAL(chip.output_changes, changes);
    CHECK(fake_chip_ask(TYPE_HELLO_REQUEST, NULL, 0, &answer));
}

static void a_host_that_reads_no_answers_stops_no_fade_and_no_button(void)
{
    struct frame request = {.sequence = 1, .type = TYPE_HELLO_REQUEST};
    uint8_t wire[FRAME_WIRE_MAX];
    uint8_t length = frame_write(&request, wire);
    struct frame event;

    new_board();
    set(0, 1000, 100);
    chip.deaf_host = true;
    chip.received = wire;
    chip.received_left = length;
    chip.inputs = 1;
    fake_chip_run(1100);
    EQUAL(chip.counts[0], 8192);

    chip.deaf_host = false;
    fake_chip_run(2);
    CHECK(fake_chip_sent(&event));
    while (event.type != TYPE_INPUT_EVENT) {
        CHECK(fake_chip_sent(&event));
    }
    EQUAL(event.body[1], PRESS_PRESSED);
}

static void a_press_is_told_unasked_and_read_when_asked(void)
{
    struct frame event;

    new_board();
    CHECK(fake_chip_sent(&event));
    chip.inputs = 1u << 2;
    fake_chip_run(50);
    CHECK(fake_chip_sent(&event));
    EQUAL(event.type, TYPE_INPUT_EVENT);
    EQUAL(event.sequence, 0);
    EQUAL(event.body[0], 2);
    EQUAL(event.body[1], PRESS_PRESSED);
    CHECK(fake_chip_ask(TYPE_INPUTS_REQUEST, NULL, 0, &answer));
    EQUAL(answer.body[0], 1u << 2);
}

static void each_start_is_counted_and_the_id_stays(void)
{
    new_board();
    CHECK(fake_chip_ask(TYPE_NAME_REQUEST, (const uint8_t[]){1, 2, 3, 4, 5, 6, 7, 8}, 8, &answer));
    for (uint16_t i = 0; i < 40; i++) {
        fake_chip_run(100);
        fake_chip_boot(RESET_CAUSE_EXTERNAL);
        CHECK(fake_chip_ask(TYPE_HELLO_REQUEST, NULL, 0, &answer));
        EQUAL(protocol_u16(answer.body + 19), i + 2);
        EQUAL(answer.body[7], 1);
    }
}

static void overruns_are_counted(void)
{
    new_board();
    chip.lost = 3;
    fake_chip_run(1);
    CHECK(fake_chip_ask(TYPE_STATS_REQUEST, NULL, 0, &answer));
    EQUAL(protocol_u16(answer.body + 4), 3);
}

const struct test board_tests[] = {
    TEST(a_board_that_starts_says_so_and_is_dark),
    TEST(every_output_has_its_level_before_it_drives),
    TEST(a_set_reaches_the_pin_before_it_is_answered),
    TEST(a_fade_moves_the_pin_in_time),
    TEST(a_reset_without_loss_of_power_keeps_the_levels),
    TEST(a_reset_in_a_fade_goes_to_where_the_fade_went),
    TEST(after_a_loss_of_power_each_channel_does_as_it_was_told),
    TEST(levels_are_written_only_where_a_channel_boots_to_its_last),
    TEST(a_slider_does_not_wear_the_eeprom),
    TEST(settings_are_written_when_they_change_and_only_then),
    TEST(a_silent_host_leaves_the_lamps_at_their_safe_level),
    TEST(garbage_is_not_a_host_that_speaks),
    TEST(garbage_moves_no_output_and_the_next_frame_is_answered),
    TEST(a_host_that_reads_no_answers_stops_no_fade_and_no_button),
    TEST(a_press_is_told_unasked_and_read_when_asked),
    TEST(each_start_is_counted_and_the_id_stays),
    TEST(overruns_are_counted),
    {0},
};
