#include "../src/logic/press.h"
#include "../src/logic/protocol.h"
#include "check.h"

static unsigned happened;

static void hold(struct press *press, bool active, unsigned milliseconds)
{
    for (unsigned i = 0; i < milliseconds / PRESS_STEP_MS; i++) {
        happened |= press_step(press, active);
    }
}

static void begin(struct press *press, bool active)
{
    press_start(press, active);
    happened = 0;
}

static void a_short_press_is_pressed_released_short(void)
{
    struct press press;

    begin(&press, false);
    hold(&press, true, 100);
    EQUAL(happened, 1u << PRESS_PRESSED);
    hold(&press, false, 100);
    EQUAL(happened, (1u << PRESS_PRESSED) | (1u << PRESS_RELEASED) | (1u << PRESS_SHORT));
}

static void a_long_press_is_told_while_it_is_held_and_is_not_short(void)
{
    struct press press;

    begin(&press, false);
    hold(&press, true, 5000);
    EQUAL(happened, (1u << PRESS_PRESSED) | (1u << PRESS_LONG));
    happened = 0;
    hold(&press, false, 100);
    EQUAL(happened, 1u << PRESS_RELEASED);
}

static void a_contact_that_bounces_is_one_press(void)
{
    struct press press;
    unsigned presses = 0;

    begin(&press, false);
    for (unsigned i = 0; i < 200; i++) {
        /* It bounces for 50 ms, and then is closed. */
        presses += (press_step(&press, i >= 10 || i % 3 == 0) & (1u << PRESS_PRESSED)) != 0 ? 1 : 0;
    }
    EQUAL(presses, 1);
}

static void a_spike_is_nothing(void)
{
    struct press press;

    begin(&press, false);
    for (unsigned i = 0; i < 50; i++) {
        hold(&press, true, 15);
        hold(&press, false, 5);
    }
    EQUAL(happened, 0);
}

static void what_is_held_from_before_the_start_was_not_pressed(void)
{
    struct press press;

    begin(&press, true);
    hold(&press, true, 3000);
    EQUAL(happened, 0);
    hold(&press, false, 100);
    EQUAL(happened, 1u << PRESS_RELEASED);
}

const struct test input_tests[] = {
    TEST(a_short_press_is_pressed_released_short),
    TEST(a_long_press_is_told_while_it_is_held_and_is_not_short),
    TEST(a_contact_that_bounces_is_one_press),
    TEST(a_spike_is_nothing),
    TEST(what_is_held_from_before_the_start_was_not_pressed),
    {0},
};
