/* The inputs, debounced. */
#ifndef BUTTONS_H
#define BUTTONS_H

#include <stdint.h>

#include "../logic/channels.h"

/* What happened to each input and is not told yet: bit n for value n of the wire's press. */
struct buttons {
    uint8_t happened[INPUTS];
};

void buttons_start(struct buttons *buttons);
/* Every PRESS_STEP_MS. Returns which are active: bit n is input n. */
uint8_t buttons_step(struct buttons *buttons);

#endif
