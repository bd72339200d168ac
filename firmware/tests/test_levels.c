#include "../src/logic/fade.h"
#include "../src/logic/keep.h"
#include "../src/logic/lightness.h"
#include "../src/logic/silence.h"
#include "check.h"

static void darkness_is_dark_and_full_is_full(void)
{
    EQUAL(lightness_counts(0, 8192, 8), 0);
    EQUAL(lightness_counts(1000, 8192, 8), 8192);
    EQUAL(lightness_counts(0, 256, 1), 0);
    EQUAL(lightness_counts(1000, 256, 1), 256);
}

static void more_level_is_never_less_light(void)
{
    for (uint16_t level = 1; level <= 1000; level++) {
        CHECK(lightness_share(level) >= lightness_share((uint16_t)(level - 1)));
        CHECK(lightness_counts(level, 256, 1) >= 1);
        CHECK(lightness_counts(level, 8192, 8) >= 8);
    }
}

static void every_percent_differs_on_the_timer_of_many_counts(void)
{
    for (uint16_t level = 20; level <= 1000; level = (uint16_t)(level + 10)) {
        CHECK(lightness_counts(level, 8192, 8) > lightness_counts((uint16_t)(level - 10), 8192, 8));
    }
}

static void half_looks_like_half(void)
{
    /* L* = 50 is Y = 0.1842. */
    EQUAL(lightness_share(500) * 10000ul / 65535u, 1841);
    /* L* = 40 is Y = 0.1125. */
    EQUAL(lightness_share(400) * 10000ul / 65535u, 1125);
}

static void a_fade_ends_where_and_when_it_should(void)
{
    struct fade fade = {0};

    fade_to(&fade, 1000, 100);
    EQUAL(fade_level(&fade), 0);
    for (unsigned i = 0; i < 50; i++) {
        fade_step(&fade);
    }
    EQUAL(fade_level(&fade), 500);
    for (unsigned i = 0; i < 49; i++) {
        fade_step(&fade);
    }
    EQUAL(fade_level(&fade), 990);
    fade_step(&fade);
    EQUAL(fade_level(&fade), 1000);
    fade_step(&fade);
    EQUAL(fade_level(&fade), 1000);
}

static void the_longest_fade_does_not_drift(void)
{
    struct fade fade = {0};

    fade_to(&fade, 1000, 65535);
    for (unsigned i = 0; i < 32768; i++) {
        fade_step(&fade);
    }
    EQUAL(fade_level(&fade), 500);
    for (unsigned i = 0; i < 32767; i++) {
        fade_step(&fade);
    }
    EQUAL(fade_level(&fade), 1000);
}

static void a_fade_that_is_overtaken_goes_on_from_where_it_is(void)
{
    struct fade fade = {0};

    fade_to(&fade, 1000, 10);
    for (unsigned i = 0; i < 5; i++) {
        fade_step(&fade);
    }
    fade_to(&fade, 0, 10);
    EQUAL(fade_level(&fade), 500);
    fade_step(&fade);
    EQUAL(fade_level(&fade), 450);
    fade_to(&fade, 1000, 0);
    EQUAL(fade_level(&fade), 1000);
}

static void silence_is_told_once_until_the_host_is_heard_again(void)
{
    struct silence silence = {0};
    unsigned told = 0;

    for (unsigned i = 0; i < 100; i++) {
        told += silence_step(&silence, 20) ? 1 : 0;
        EQUAL(told, i >= 19 ? 1 : 0);
    }
    silence_heard(&silence);
    for (unsigned i = 0; i < 20; i++) {
        told += silence_step(&silence, 20) ? 1 : 0;
    }
    EQUAL(told, 2);
}

static void a_period_of_zero_is_never_over(void)
{
    struct silence silence = {0};

    for (unsigned i = 0; i < 70000; i++) {
        CHECK(!silence_step(&silence, 0));
    }
}

static void levels_are_written_once_they_rest_and_at_most_once_a_minute(void)
{
    struct keep keep;
    unsigned writes = 0;

    keep_start(&keep);
    for (unsigned tenths = 0; tenths < 36000; tenths++) { /* an hour of a change every 10 s */
        if (tenths % 100 == 0) {
            keep_changed(&keep);
        }
        if (keep_step(&keep, true)) {
            CHECK(tenths % 100 >= KEEP_SETTLED - 1);
            keep_written(&keep);
            writes++;
        }
    }
    CHECK(writes > 50);
    CHECK(writes <= 60);
}

const struct test level_tests[] = {
    TEST(darkness_is_dark_and_full_is_full),
    TEST(more_level_is_never_less_light),
    TEST(every_percent_differs_on_the_timer_of_many_counts),
    TEST(half_looks_like_half),
    TEST(a_fade_ends_where_and_when_it_should),
    TEST(the_longest_fade_does_not_drift),
    TEST(a_fade_that_is_overtaken_goes_on_from_where_it_is),
    TEST(silence_is_told_once_until_the_host_is_heard_again),
    TEST(a_period_of_zero_is_never_over),
    TEST(levels_are_written_once_they_rest_and_at_most_once_a_minute),
    {0},
};
