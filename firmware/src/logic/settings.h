/* What the board is told once and keeps. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "channels.h"

#define BOARD_ID_SIZE 8u
#define SETTINGS_SIZE (BOARD_ID_SIZE + 2u + 3u * CHANNELS)

struct channel_settings {
    uint16_t safe_level; /* per mille */
    uint8_t boot_level;  /* the wire's boot_level */
};

struct settings {
    uint8_t board_id[BOARD_ID_SIZE]; /* zeros: none yet */
    uint16_t silence;                /* in 100 ms; 0 is never */
    struct channel_settings channels[CHANNELS];
};

/* As they leave the factory: no id, no silence, everything off. */
void settings_clear(struct settings *settings);
bool settings_have_id(const struct settings *settings);

void settings_write(const struct settings *settings, uint8_t *bytes);
/* False, and all cleared, where the bytes say what cannot be. */
bool settings_read(struct settings *settings, const uint8_t *bytes);

#endif
