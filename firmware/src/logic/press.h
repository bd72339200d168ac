/* What a finger did to a contact that bounces. */
#ifndef PRESS_H
#define PRESS_H

#include <stdbool.h>
#include <stdint.h>

#define PRESS_STEP_MS 5u
#define PRESS_SAMPLES 4u /* equal ones in a row: 20 ms */
#define PRESS_LONG_STEPS (800u / PRESS_STEP_MS)

struct press {
    bool active;     /* debounced */
    uint8_t differs; /* samples in a row that say otherwise */
    uint8_t held;    /* in steps, up to PRESS_LONG_STEPS */
};

/* As it is found at the start, which is no press. */
void press_start(struct press *press, bool active);

/* Five milliseconds later. Returns what happened: bit n for value n of the wire's press. */
uint8_t press_step(struct press *press, bool active);

#endif
