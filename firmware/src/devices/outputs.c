#include "outputs.h"

#include "../chip/hal.h"
#include "../logic/channels.h"
#include "../logic/lightness.h"

#define UNKNOWN 0xFFFFu

static uint16_t shown[CHANNELS];

void outputs_start(void)
{
    for (uint8_t i = 0; i < CHANNELS; i++) {
        shown[i] = UNKNOWN;
    }
}

void output_show(uint8_t channel, uint16_t level)
{
    if (shown[channel] == level) {
        return;
    }
    shown[channel] = level;
    if (channel_is_relay(channel)) {
        hal_relay_set((uint8_t)(channel - DIM_CHANNELS), level != 0);
    } else {
        hal_pwm_set(channel, lightness_counts(level, hal_pwm_all(channel), hal_pwm_least(channel)));
    }
}
