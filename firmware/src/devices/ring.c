#include "ring.h"

#include "../chip/hal.h"
#include "../logic/crc.h"
#include "../logic/protocol.h"

static uint8_t slot_size(const struct ring *ring)
{
    return (uint8_t)(ring->size + RING_FRAME);
}

static uint16_t slot_at(const struct ring *ring, uint8_t slot)
{
    return (uint16_t)(ring->base + (uint16_t)slot * slot_size(ring));
}

static uint16_t read_u16(uint16_t at)
{
    return (uint16_t)(hal_eeprom_read(at) | (uint16_t)((uint16_t)hal_eeprom_read((uint16_t)(at + 1)) << 8));
}

static bool slot_valid(const struct ring *ring, uint8_t slot)
{
    uint16_t at = slot_at(ring, slot);
    uint16_t end = (uint16_t)(at + ring->size + 2u);
    uint16_t crc = CRC_START;

    while (at < end) {
        crc = crc_update(crc, hal_eeprom_read(at));
        at++;
    }
    return read_u16(end) == crc;
}

void ring_open(struct ring *ring, uint16_t base, uint8_t size, uint8_t slots)
{
    ring->base = base;
    ring->size = size;
    ring->slots = slots;
    ring->newest = (uint8_t)(slots - 1u);
    ring->found = false;
    ring->sequence = 0;
    ring->pending = 0;
    for (uint8_t slot = 0; slot < slots; slot++) {
        uint16_t sequence;

        if (!slot_valid(ring, slot)) {
            continue;
        }
        sequence = read_u16(slot_at(ring, slot));
        /* Sequences wrap; those in a ring are never far apart. */
        if (!ring->found || (uint16_t)(sequence - ring->sequence) < 0x8000u) {
            ring->found = true;
            ring->sequence = sequence;
            ring->newest = slot;
        }
    }
}

bool ring_read(const struct ring *ring, uint8_t *payload)
{
    uint16_t at = (uint16_t)(slot_at(ring, ring->newest) + 2u);

    if (!ring->found) {
        return false;
    }
    for (uint8_t i = 0; i < ring->size; i++) {
        payload[i] = hal_eeprom_read((uint16_t)(at + i));
    }
    return true;
}

bool ring_write(struct ring *ring, const uint8_t *payload)
{
    if (ring->pending != 0) {
        return false;
    }
    ring->sequence++;
    ring->newest = (uint8_t)(ring->newest + 1u) < ring->slots ? (uint8_t)(ring->newest + 1u) : 0;
    ring->found = true;
    protocol_put_u16(ring->record, ring->sequence);
    for (uint8_t i = 0; i < ring->size; i++) {
        ring->record[2u + i] = payload[i];
    }
    protocol_put_u16(ring->record + 2u + ring->size, crc_of(ring->record, (uint8_t)(ring->size + 2u)));
    ring->pending = slot_size(ring);
    return true;
}

void ring_step(struct ring *ring)
{
    uint8_t at;

    if (ring->pending == 0 || !hal_eeprom_ready()) {
        return;
    }
    at = (uint8_t)(slot_size(ring) - ring->pending);
    hal_eeprom_write((uint16_t)(slot_at(ring, ring->newest) + at), ring->record[at]);
    ring->pending--;
}
