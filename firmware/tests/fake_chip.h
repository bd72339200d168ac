/* A chip whose time, wires and EEPROM are the test's. */
#ifndef FAKE_CHIP_H
#define FAKE_CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../src/chip/hal.h"
#include "../src/logic/channels.h"
#include "../src/logic/frame.h"

#define SENT_ROOM 65536u

struct fake_chip {
    uint8_t eeprom[HAL_EEPROM_SIZE];
    unsigned eeprom_writes;
    bool eeprom_busy;
    uint8_t inputs;
    uint8_t reset_cause;
    uint8_t lost;
    bool deaf_host; /* reads no answers */
    bool driving;
    unsigned set_before_driving; /* outputs that had a level when they began to drive */
    uint16_t counts[DIM_CHANNELS];
    bool relays[RELAY_CHANNELS];
    unsigned output_changes;
    uint32_t us;
    uint32_t counted_ms;
    const uint8_t *received;
    size_t received_left;
    uint8_t sent[SENT_ROOM];
    size_t sent_used;
    size_t sent_read;
};

extern struct fake_chip chip;

/* A new chip from the factory: its EEPROM is 0xFF. */
void fake_chip_new(void);
/* Begins a run of the board; a reset keeps RAM, the loss of power does not. */
void fake_chip_boot(uint8_t reset_cause);
void fake_chip_lose_power(void);
/* Turns of the board, a millisecond each. */
void fake_chip_run(uint32_t milliseconds);
/* Puts bytes on the wire and runs until they are taken. */
void fake_chip_receive(const uint8_t *bytes, size_t length);
/* A request of the host; the answer that follows it, past events. False where none came. */
bool fake_chip_ask(uint8_t type, const uint8_t *body, uint8_t length, struct frame *answer);
/* The next frame that the board has sent; false where there is none. */
bool fake_chip_sent(struct frame *frame);

#endif
