#include "board.h"

#include <string.h>

#include "chip/hal.h"
#include "devices/buttons.h"
#include "devices/memory.h"
#include "devices/outputs.h"
#include "logic/commands.h"
#include "logic/keep.h"
#include "logic/press.h"

#define FADE_STEP_MS 10u
#define SECOND_MS 1000u
/* A turn serves no more than this, so that a flood delays no fade, no button and no watchdog. */
#define BYTES_A_TURN 32u

static struct state state;
static struct decoder decoder;
static struct buttons buttons;
static struct keep keep;
static uint16_t kept[CHANNELS];   /* what is in RAM for the next start */
static uint16_t stored[CHANNELS]; /* what is in EEPROM */
static uint8_t fade_ms;
static uint8_t press_ms;
static uint8_t silence_ms;
static uint16_t second_ms;
static bool boot_told;

static void show(void)
{
    for (uint8_t i = 0; i < CHANNELS; i++) {
        output_show(i, fade_level(&state.fades[i]));
    }
}

/* After whatever may have changed a target. */
static void remember(void)
{
    bool changed = false;

    for (uint8_t i = 0; i < CHANNELS; i++) {
        if (kept[i] != state.fades[i].target) {
            kept[i] = state.fades[i].target;
            changed = true;
        }
    }
    if (changed) {
        memory_keep_levels(kept);
        keep_changed(&keep);
    }
}

static uint16_t boot_level(uint8_t channel, bool have_stored)
{
    const struct channel_settings *settings = &state.settings.channels[channel];

    switch (settings->boot_level) {
    case BOOT_LEVEL_SAFE: return settings->safe_level;
    case BOOT_LEVEL_LAST: return have_stored ? stored[channel] : 0;
    default: return 0;
    }
}

static bool any_boots_to_last(void)
{
    for (uint8_t i = 0; i < CHANNELS; i++) {
        if (state.settings.channels[i].boot_level == BOOT_LEVEL_LAST) {
            return true;
        }
    }
    return false;
}

/* A reset without a loss of power, such as a host that opens the port, changes no lamp. */
static void restore(void)
{
    bool power_was_away = (state.reset_cause & RESET_CAUSE_POWER_ON) != 0;

    if (power_was_away || !memory_kept_levels(kept)) {
        bool have_stored = any_boots_to_last() && memory_stored_levels(stored);

        for (uint8_t i = 0; i < CHANNELS; i++) {
            kept[i] = boot_level(i, have_stored);
        }
        memory_keep_levels(kept);
    }
    for (uint8_t i = 0; i < CHANNELS; i++) {
        fade_to(&state.fades[i], kept[i], 0);
    }
}

void board_start(void)
{
    memset(&state, 0, sizeof state);
    hal_start();
    outputs_start();
    state.reset_cause = hal_reset_cause();
    memory_open(&state.settings);
    restore();
    show();
    hal_outputs_on();
    /* The lamps are as they were; all else has time. */
    state.boots = memory_start();
    if (!memory_stored_levels(stored)) {
        memset(stored, 0xFF, sizeof stored);
    }
    decoder_start(&decoder);
    buttons_start(&buttons);
    keep_start(&keep);
    boot_told = false;
    fade_ms = press_ms = silence_ms = 0;
    second_ms = 0;
}

static void send(const struct frame *frame)
{
    uint8_t wire[FRAME_WIRE_MAX];
    uint8_t length = frame_write(frame, wire);

    for (uint8_t i = 0; i < length; i++) {
        hal_serial_write(wire[i]);
    }
}

static void serve(uint8_t byte)
{
    struct frame request;
    struct frame answer;

    switch (decoder_take(&decoder, byte, &request)) {
    case DECODER_FRAME:
        commands_answer(&state, &request, &answer);
        show();
        remember();
        send(&answer);
        break;
    case DECODER_DAMAGED:
        count(&state.counters.damaged);
        break;
    default:
        break;
    }
}

/* A host that does not read its answers is not served: its bytes are lost, never ours. */
static void serve_bytes(void)
{
    uint8_t byte;

    for (uint8_t i = 0; i < BYTES_A_TURN && hal_serial_room() >= FRAME_WIRE_MAX && hal_serial_read(&byte); i++) {
        serve(byte);
    }
    for (uint8_t lost = hal_serial_lost(); lost != 0; lost--) {
        count(&state.counters.overruns);
    }
}

static void tell_input(uint8_t input)
{
    struct frame event;

    for (uint8_t press = PRESS_PRESSED; press <= PRESS_LONG; press++) {
        uint8_t bit = (uint8_t)(1u << press);

        if ((buttons.happened[input] & bit) != 0 && hal_serial_room() >= FRAME_WIRE_MAX) {
            buttons.happened[input] = (uint8_t)(buttons.happened[input] & ~bit);
            commands_input(input, press, &event);
            send(&event);
        }
    }
}

static void tell(void)
{
    struct frame event;

    if (!boot_told && hal_serial_room() >= FRAME_WIRE_MAX) {
        boot_told = true;
        commands_booted(&state, &event);
        send(&event);
    }
    for (uint8_t i = 0; i < INPUTS; i++) {
        if (buttons.happened[i] != 0) {
            tell_input(i);
        }
    }
}

static void step_tenth(void)
{
    bool differs = any_boots_to_last() && memcmp(stored, kept, sizeof stored) != 0;

    if (silence_step(&state.silence, state.settings.silence)) {
        commands_fall_silent(&state);
        show();
        remember();
    }
    if (keep_step(&keep, differs) && memory_store_levels(kept)) {
        memcpy(stored, kept, sizeof stored);
        keep_written(&keep);
        count(&state.counters.level_writes);
    }
}

static void step_millisecond(void)
{
    if (++fade_ms >= FADE_STEP_MS) {
        fade_ms = 0;
        for (uint8_t i = 0; i < CHANNELS; i++) {
            fade_step(&state.fades[i]);
        }
        show();
    }
    if (++press_ms >= PRESS_STEP_MS) {
        press_ms = 0;
        state.inputs = buttons_step(&buttons);
    }
    if (++silence_ms >= PROTOCOL_SILENCE_UNIT_MS) {
        silence_ms = 0;
        step_tenth();
    }
    if (++second_ms >= SECOND_MS) {
        second_ms = 0;
        state.counters.uptime++;
    }
}

void board_turn(void)
{
    uint16_t began = hal_microseconds();
    uint16_t took;

    hal_watchdog_feed();
    serve_bytes();
    for (uint8_t passed = hal_milliseconds(); passed != 0; passed--) {
        step_millisecond();
    }
    tell();
    if (state.settings_changed && memory_store_settings(&state.settings)) {
        state.settings_changed = false;
    }
    memory_step();

    took = (uint16_t)(hal_microseconds() - began);
    if (took > state.counters.longest_loop) {
        state.counters.longest_loop = took;
    }
    hal_sleep();
}
