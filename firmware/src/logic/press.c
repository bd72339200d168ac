#include "press.h"

#include "protocol.h"

void press_start(struct press *press, bool active)
{
    press->active = active;
    press->differs = 0;
    /* What is held from before the start was not pressed: it ends without a short or a long. */
    press->held = PRESS_LONG_STEPS;
}

uint8_t press_step(struct press *press, bool active)
{
    press->differs = active == press->active ? 0 : (uint8_t)(press->differs + 1);
    if (press->differs >= PRESS_SAMPLES) {
        press->differs = 0;
        press->active = active;
        if (active) {
            press->held = 0;
            return 1u << PRESS_PRESSED;
        }
        return press->held < PRESS_LONG_STEPS ? (1u << PRESS_RELEASED) | (1u << PRESS_SHORT) : 1u << PRESS_RELEASED;
    }
    if (press->active && press->held < PRESS_LONG_STEPS) {
        press->held++;
        if (press->held == PRESS_LONG_STEPS) {
            return 1u << PRESS_LONG;
        }
    }
    return 0;
}
