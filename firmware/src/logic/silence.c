#include "silence.h"

void silence_heard(struct silence *silence)
{
    silence->quiet = 0;
    silence->told = false;
}

bool silence_step(struct silence *silence, uint16_t period)
{
    if (silence->quiet < UINT16_MAX) {
        silence->quiet++;
    }
    if (silence->told || period == 0 || silence->quiet < period) {
        return false;
    }
    silence->told = true;
    return true;
}
