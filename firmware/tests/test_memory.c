#include <string.h>

#include "../src/devices/ring.h"
#include "../src/logic/settings.h"
#include "check.h"
#include "fake_chip.h"

static void finish(struct ring *ring)
{
    while (ring->pending != 0) {
        ring_step(ring);
    }
}

static void an_eeprom_from_the_factory_holds_no_record(void)
{
    static const uint8_t fills[] = {0xFF, 0x00};

    for (unsigned fill = 0; fill < 2; fill++) {
        fake_chip_new();
        memset(chip.eeprom, fills[fill], sizeof chip.eeprom);
        for (uint8_t size = 0; size <= RING_PAYLOAD_MAX; size++) {
            struct ring ring;

            ring_open(&ring, 0, size, 8);
            CHECK(!ring.found);
        }
    }
}

static void the_newest_record_is_read_also_when_the_sequence_wraps(void)
{
    struct ring ring;

    fake_chip_new();
    ring_open(&ring, 100, 2, 5);
    ring.sequence = 65530;
    for (uint8_t i = 0; i < 13; i++) {
        uint8_t payload[2] = {i, 0x77};
        uint8_t read[2];
        struct ring again;

        CHECK(ring_write(&ring, payload));
        finish(&ring);
        ring_open(&again, 100, 2, 5);
        CHECK(ring_read(&again, read));
        EQUAL(read[0], i);
        EQUAL(again.sequence, ring.sequence);
        EQUAL(again.newest, ring.newest);
    }
}

static void a_write_cut_short_at_any_byte_leaves_the_record_before_it(void)
{
    for (uint8_t cut = 0; cut < 16u + RING_FRAME; cut++) {
        struct ring ring;
        struct ring again;
        uint8_t old[16];
        uint8_t new[16];
        uint8_t read[16];

        fake_chip_new();
        memset(old, 1, sizeof old);
        memset(new, 2, sizeof new);
        ring_open(&ring, 0, 16, 3);
        for (unsigned i = 0; i < 4; i++) { /* all slots have been written before */
            CHECK(ring_write(&ring, old));
            finish(&ring);
        }
        CHECK(ring_write(&ring, new));
        for (uint8_t i = 0; i < cut; i++) {
            ring_step(&ring);
        }

        ring_open(&again, 0, 16, 3);
        CHECK(ring_read(&again, read));
        EQUAL(read[0], 1);
        EQUAL(read[15], 1);
    }
}

static void writes_go_round_all_slots(void)
{
    struct ring ring;
    unsigned before;

    fake_chip_new();
    ring_open(&ring, 0, 2, 8);
    for (uint8_t i = 0; i < 80; i++) {
        uint8_t payload[2] = {i, (uint8_t)~i};

        CHECK(ring_write(&ring, payload));
        CHECK(!ring_write(&ring, payload));
        finish(&ring);
    }
    before = chip.eeprom_writes;
    CHECK(before <= 80u * 6u);
    EQUAL(ring.sequence, 80);
}

static void a_busy_eeprom_is_waited_for(void)
{
    struct ring ring;
    uint8_t payload[2] = {1, 2};

    fake_chip_new();
    ring_open(&ring, 0, 2, 8);
    chip.eeprom_busy = true;
    CHECK(ring_write(&ring, payload));
    ring_step(&ring);
    EQUAL(chip.eeprom_writes, 0);
    chip.eeprom_busy = false;
    finish(&ring);
    EQUAL(chip.eeprom[2], 1);
}

static void settings_are_read_as_they_were_written_and_nonsense_is_refused(void)
{
    struct settings settings;
    struct settings read;
    uint8_t bytes[SETTINGS_SIZE];

    settings_clear(&settings);
    settings.board_id[3] = 9;
    settings.silence = 600;
    settings.channels[2].safe_level = 345;
    settings.channels[7].safe_level = 1000;
    settings.channels[7].boot_level = BOOT_LEVEL_LAST;
    settings_write(&settings, bytes);
    CHECK(settings_read(&read, bytes));
    EQUAL(read.silence, 600);
    EQUAL(read.channels[2].safe_level, 345);
    EQUAL(read.channels[7].boot_level, BOOT_LEVEL_LAST);
    CHECK(settings_have_id(&read));

    bytes[SETTINGS_SIZE - 3] = 1; /* a relay half on */
    CHECK(!settings_read(&read, bytes));
    EQUAL(read.silence, 0);
}

const struct test memory_tests[] = {
    TEST(an_eeprom_from_the_factory_holds_no_record),
    TEST(the_newest_record_is_read_also_when_the_sequence_wraps),
    TEST(a_write_cut_short_at_any_byte_leaves_the_record_before_it),
    TEST(writes_go_round_all_slots),
    TEST(a_busy_eeprom_is_waited_for),
    TEST(settings_are_read_as_they_were_written_and_nonsense_is_refused),
    {0},
};
