#include "memory.h"

#include "../chip/hal.h"
#include "../logic/crc.h"
#include "ring.h"

/* The EEPROM's 1024 bytes: settings, starts, levels. */
#define SETTINGS_SLOTS 4u
#define STARTS_SLOTS 16u
#define LEVELS_SLOTS 40u
#define SETTINGS_BASE 0u
#define STARTS_BASE (SETTINGS_BASE + SETTINGS_SLOTS * (SETTINGS_SIZE + RING_FRAME))
#define LEVELS_BASE (STARTS_BASE + STARTS_SLOTS * RING_FRAME)

_Static_assert(LEVELS_BASE + LEVELS_SLOTS * (LEVELS_SIZE + RING_FRAME) <= HAL_EEPROM_SIZE, "the EEPROM is too small");
_Static_assert(SETTINGS_SIZE <= RING_PAYLOAD_MAX && LEVELS_SIZE <= RING_PAYLOAD_MAX, "a record is too long");

static struct ring settings_ring;
static struct ring starts_ring;
static struct ring levels_ring;
static bool levels_open;

/* Two copies, one written after the other: a reset at any moment leaves one of them whole. */
struct kept {
    uint8_t levels[LEVELS_SIZE];
    uint16_t crc;
};
static HAL_KEPT struct kept copies[2];

void memory_open(struct settings *settings)
{
    uint8_t bytes[SETTINGS_SIZE];

    levels_open = false;
    ring_open(&settings_ring, SETTINGS_BASE, SETTINGS_SIZE, SETTINGS_SLOTS);
    if (!ring_read(&settings_ring, bytes) || !settings_read(settings, bytes)) {
        settings_clear(settings);
    }
}

static void open_levels(void)
{
    if (!levels_open) {
        ring_open(&levels_ring, LEVELS_BASE, LEVELS_SIZE, LEVELS_SLOTS);
        levels_open = true;
    }
}

uint16_t memory_start(void)
{
    static const uint8_t nothing[1];

    open_levels();
    ring_open(&starts_ring, STARTS_BASE, 0, STARTS_SLOTS);
    (void)ring_write(&starts_ring, nothing);
    return starts_ring.sequence;
}

static void levels_write(uint8_t *bytes, const uint16_t *levels)
{
    for (uint8_t i = 0; i < CHANNELS; i++) {
        protocol_put_u16(bytes + 2u * i, levels[i]);
    }
}

static bool levels_read(const uint8_t *bytes, uint16_t *levels)
{
    for (uint8_t i = 0; i < CHANNELS; i++) {
        levels[i] = protocol_u16(bytes + 2u * i);
        if (!channel_takes(i, levels[i])) {
            return false;
        }
    }
    return true;
}

bool memory_kept_levels(uint16_t *levels)
{
    for (uint8_t i = 0; i < 2; i++) {
        if (crc_of(copies[i].levels, LEVELS_SIZE) == copies[i].crc && levels_read(copies[i].levels, levels)) {
            return true;
        }
    }
    return false;
}

void memory_keep_levels(const uint16_t *levels)
{
    for (uint8_t i = 0; i < 2; i++) {
        /* A volatile pointer, so that the compiler keeps the order of the copies. */
        volatile struct kept *copy = &copies[i];
        uint8_t bytes[LEVELS_SIZE];

        levels_write(bytes, levels);
        for (uint8_t at = 0; at < LEVELS_SIZE; at++) {
            copy->levels[at] = bytes[at];
        }
        copy->crc = crc_of(bytes, LEVELS_SIZE);
    }
}

bool memory_stored_levels(uint16_t *levels)
{
    uint8_t bytes[LEVELS_SIZE];

    open_levels();
    return ring_read(&levels_ring, bytes) && levels_read(bytes, levels);
}

bool memory_store_levels(const uint16_t *levels)
{
    uint8_t bytes[LEVELS_SIZE];

    levels_write(bytes, levels);
    return ring_write(&levels_ring, bytes);
}

bool memory_store_settings(const struct settings *settings)
{
    uint8_t bytes[SETTINGS_SIZE];

    settings_write(settings, bytes);
    return ring_write(&settings_ring, bytes);
}

void memory_step(void)
{
    ring_step(&settings_ring);
    ring_step(&starts_ring);
    ring_step(&levels_ring);
}
