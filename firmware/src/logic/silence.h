/* Whether the host has been silent for too long. */
#ifndef SILENCE_H
#define SILENCE_H

#include <stdbool.h>
#include <stdint.h>

struct silence {
    uint16_t quiet; /* in 100 ms, up to 65535 */
    bool told;
};

void silence_heard(struct silence *silence);

/* A tenth of a second later. True once for each silence that lasts for the period; a period of 0 never ends. */
bool silence_step(struct silence *silence, uint16_t period);

#endif
