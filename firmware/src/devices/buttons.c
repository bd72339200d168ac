#include "buttons.h"

#include "../chip/hal.h"
#include "../logic/press.h"

static struct press presses[INPUTS];

static bool is_set(uint8_t bits, uint8_t input)
{
    return (bits & (1u << input)) != 0;
}

void buttons_start(struct buttons *buttons)
{
    uint8_t now = hal_inputs();

    for (uint8_t i = 0; i < INPUTS; i++) {
        press_start(&presses[i], is_set(now, i));
        buttons->happened[i] = 0;
    }
}

uint8_t buttons_step(struct buttons *buttons)
{
    uint8_t now = hal_inputs();
    uint8_t active = 0;

    for (uint8_t i = 0; i < INPUTS; i++) {
        buttons->happened[i] = (uint8_t)(buttons->happened[i] | press_step(&presses[i], is_set(now, i)));
        if (presses[i].active) {
            active = (uint8_t)(active | (1u << i));
        }
    }
    return active;
}
