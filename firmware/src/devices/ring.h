/*
 * A record in EEPROM that moves on with each write, so that no cell wears out before the others, and a write cut
 * short by a reset leaves the record before it.
 *
 * A slot is: sequence (2 bytes), payload, CRC-16 over both. The newest valid one counts.
 */
#ifndef RING_H
#define RING_H

#include <stdbool.h>
#include <stdint.h>

#define RING_PAYLOAD_MAX 34u
#define RING_FRAME 4u

struct ring {
    uint16_t base;  /* address of slot 0 */
    uint8_t size;   /* of the payload; 0 for a ring that only counts */
    uint8_t slots;
    uint8_t newest; /* slot of the newest record */
    bool found;
    uint16_t sequence; /* of the newest record; 0 where there is none */
    uint8_t pending;   /* bytes of record that are still to be written */
    uint8_t record[RING_PAYLOAD_MAX + RING_FRAME];
};

/* Finds the newest record. Reads the whole ring: about 50 cycles a byte on the ATmega328P. */
void ring_open(struct ring *ring, uint16_t base, uint8_t size, uint8_t slots);
/* The newest record's payload; false where there is none. */
bool ring_read(const struct ring *ring, uint8_t *payload);
/* Begins a write, and returns at once; false while another one runs. */
bool ring_write(struct ring *ring, const uint8_t *payload);
/* Writes a byte where one is due and the EEPROM is ready. */
void ring_step(struct ring *ring);

#endif
