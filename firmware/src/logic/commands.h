/* What each request does, and what is answered. Nothing here touches a pin. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "channels.h"
#include "fade.h"
#include "frame.h"
#include "settings.h"
#include "silence.h"

#define FIRMWARE_MAJOR 1u
#define FIRMWARE_MINOR 0u

/* Counters of 16 bits stay at their end. */
struct counters {
    uint16_t frames;
    uint16_t damaged;
    uint16_t overruns;
    uint16_t refused;
    uint16_t silences;
    uint16_t level_writes;
    uint16_t longest_loop; /* in microseconds */
    uint32_t uptime;       /* in seconds */
};

static inline void count(uint16_t *counter)
{
    if (*counter < UINT16_MAX) {
        (*counter)++;
    }
}

/* All that the board knows. */
struct state {
    struct settings settings;
    bool settings_changed; /* and are to be written */
    struct fade fades[CHANNELS];
    struct silence silence;
    struct counters counters;
    uint8_t inputs; /* bit n is input n */
    uint8_t reset_cause;
    uint16_t boots;
};

/* Does the request, or refuses it and moves nothing. */
void commands_answer(struct state *state, const struct frame *request, struct frame *answer);

/* The board has started. */
void commands_booted(const struct state *state, struct frame *event);

/* An input changed. */
void commands_input(uint8_t input, uint8_t press, struct frame *event);

/* The host is silent: every channel to its safe level, at once. */
void commands_fall_silent(struct state *state);

#endif
