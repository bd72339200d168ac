/* How many there are of what, and what a channel may be. */
#ifndef CHANNELS_H
#define CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

#define DIM_CHANNELS 6u
#define RELAY_CHANNELS 2u
#define CHANNELS (DIM_CHANNELS + RELAY_CHANNELS)
#define INPUTS 4u

/* Levels as they are kept: two bytes for each channel. */
#define LEVELS_SIZE (2u * CHANNELS)

static inline bool channel_is_relay(uint8_t channel)
{
    return channel >= DIM_CHANNELS;
}

static inline bool channel_takes(uint8_t channel, uint16_t level)
{
    if (channel_is_relay(channel)) {
        return level == 0 || level == PROTOCOL_MAX_LEVEL;
    }
    return level <= PROTOCOL_MAX_LEVEL;
}

#endif
