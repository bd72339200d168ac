#include "commands.h"

#include <string.h>

/* The tests build an image that speaks another version of the wire. */
#ifndef FIRMWARE_PROTOCOL
#define FIRMWARE_PROTOCOL PROTOCOL_VERSION
#endif

#define DONE 0u

/* Each returns DONE with the answer's body written, or the reason to refuse. The body has the right length. */
typedef uint8_t (*command)(struct state *state, const uint8_t *body, struct frame *answer);

static uint8_t write_hello(const struct state *state, uint8_t *body)
{
    struct hello_answer hello = {
        .protocol = FIRMWARE_PROTOCOL,
        .major = FIRMWARE_MAJOR,
        .minor = FIRMWARE_MINOR,
        .dim_channels = DIM_CHANNELS,
        .relay_channels = RELAY_CHANNELS,
        .inputs = INPUTS,
        .reset_cause = state->reset_cause,
        .boots = state->boots,
    };

    memcpy(hello.magic, PROTOCOL_MAGIC, sizeof hello.magic);
    memcpy(hello.board_id, state->settings.board_id, BOARD_ID_SIZE);
    return hello_answer_write(body, &hello);
}

static uint8_t do_hello(struct state *state, const uint8_t *body, struct frame *answer)
{
    (void)body;
    answer->length = write_hello(state, answer->body);
    return DONE;
}

static uint8_t do_set(struct state *state, const uint8_t *body, struct frame *answer)
{
    struct set_request set;
    struct set_answer done;
    struct fade *fade;

    set_request_read(body, &set);
    if (set.channel >= CHANNELS) {
        return REASON_BAD_CHANNEL;
    }
    if (!channel_takes(set.channel, set.level) || (channel_is_relay(set.channel) && set.fade != 0)) {
        return REASON_BAD_VALUE;
    }
    fade = &state->fades[set.channel];
    fade_to(fade, set.level, set.fade);
    done.channel = set.channel;
    done.level = fade_level(fade);
    done.target = fade->target;
    answer->length = set_answer_write(answer->body, &done);
    return DONE;
}

static uint8_t do_get(struct state *state, const uint8_t *body, struct frame *answer)
{
    struct get_request get;
    struct get_answer done;

    get_request_read(body, &get);
    if (get.channel >= CHANNELS) {
        return REASON_BAD_CHANNEL;
    }
    done.channel = get.channel;
    done.level = fade_level(&state->fades[get.channel]);
    done.target = state->fades[get.channel].target;
    done.kind = channel_is_relay(get.channel) ? KIND_RELAY : KIND_DIM;
    answer->length = get_answer_write(answer->body, &done);
    return DONE;
}

static uint8_t do_get_all(struct state *state, const uint8_t *body, struct frame *answer)
{
    struct get_all_request get;
    struct get_all_answer done;
    uint8_t used;

    get_all_request_read(body, &get);
    if (get.first >= CHANNELS) {
        return REASON_BAD_CHANNEL;
    }
    done.first = get.first;
    done.count = (uint8_t)(CHANNELS - get.first);
    if (done.count > PROTOCOL_PAGE) {
        done.count = PROTOCOL_PAGE;
    }
    used = get_all_answer_write(answer->body, &done);
    for (uint8_t i = 0; i < done.count; i++) {
        const struct fade *fade = &state->fades[get.first + i];

        protocol_put_u16(answer->body + used, fade_level(fade));
        protocol_put_u16(answer->body + used + 2, fade->target);
        used = (uint8_t)(used + 4);
    }
    answer->length = used;
    return DONE;
}

static uint8_t do_inputs(struct state *state, const uint8_t *body, struct frame *answer)
{
    struct inputs_answer done = {.bits = state->inputs};

    (void)body;
    answer->length = inputs_answer_write(answer->body, &done);
    return DONE;
}

static uint8_t do_safe(struct state *state, const uint8_t *body, struct frame *answer)
{
    struct safe_request safe;
    struct safe_answer done;
    struct channel_settings *settings;

    safe_request_read(body, &safe);
    if (safe.channel >= CHANNELS) {
        return REASON_BAD_CHANNEL;
    }
    if (!channel_takes(safe.channel, safe.safe_level) || safe.boot_level > BOOT_LEVEL_LAST) {
        return REASON_BAD_VALUE;
    }
    settings = &state->settings.channels[safe.channel];
    /* A host says this at every start; what is known already wears no EEPROM. */
    if (settings->safe_level != safe.safe_level || settings->boot_level != safe.boot_level) {
        settings->safe_level = safe.safe_level;
        settings->boot_level = safe.boot_level;
        state->settings_changed = true;
    }
    done.channel = safe.channel;
    done.safe_level = settings->safe_level;
    done.boot_level = settings->boot_level;
    answer->length = safe_answer_write(answer->body, &done);
    return DONE;
}

static uint8_t do_silence(struct state *state, const uint8_t *body, struct frame *answer)
{
    struct silence_request silence;
    struct silence_answer done;

    silence_request_read(body, &silence);
    if (state->settings.silence != silence.period) {
        state->settings.silence = silence.period;
        state->settings_changed = true;
    }
    done.period = silence.period;
    answer->length = silence_answer_write(answer->body, &done);
    return DONE;
}

static uint8_t do_stats(struct state *state, const uint8_t *body, struct frame *answer)
{
    const struct counters *counters = &state->counters;
    struct stats_answer done = {
        .frames = counters->frames,
        .damaged = counters->damaged,
        .overruns = counters->overruns,
        .refused = counters->refused,
        .silences = counters->silences,
        .level_writes = counters->level_writes,
        .longest_loop = counters->longest_loop,
        .uptime = counters->uptime,
    };

    (void)body;
    answer->length = stats_answer_write(answer->body, &done);
    return DONE;
}

static uint8_t do_name(struct state *state, const uint8_t *body, struct frame *answer)
{
    struct name_request name;
    struct name_answer done;
    struct settings named;

    name_request_read(body, &name);
    memcpy(named.board_id, name.board_id, BOARD_ID_SIZE);
    if (!settings_have_id(&named)) {
        return REASON_BAD_VALUE;
    }
    /* The answer to the first try may be lost on the way: the same id again is no other name. */
    if (settings_have_id(&state->settings) &&
        memcmp(state->settings.board_id, name.board_id, BOARD_ID_SIZE) != 0) {
        return REASON_WRONG_STATE;
    }
    if (!settings_have_id(&state->settings)) {
        memcpy(state->settings.board_id, name.board_id, BOARD_ID_SIZE);
        state->settings_changed = true;
    }
    memcpy(done.board_id, name.board_id, BOARD_ID_SIZE);
    answer->length = name_answer_write(answer->body, &done);
    return DONE;
}

static uint8_t dispatch(struct state *state, const struct frame *request, struct frame *answer)
{
    uint8_t size;
    command run;

    switch (request->type) {
    case TYPE_HELLO_REQUEST: size = SIZE_HELLO_REQUEST; run = do_hello; break;
    case TYPE_SET_REQUEST: size = SIZE_SET_REQUEST; run = do_set; break;
    case TYPE_GET_REQUEST: size = SIZE_GET_REQUEST; run = do_get; break;
    case TYPE_GET_ALL_REQUEST: size = SIZE_GET_ALL_REQUEST; run = do_get_all; break;
    case TYPE_INPUTS_REQUEST: size = SIZE_INPUTS_REQUEST; run = do_inputs; break;
    case TYPE_SAFE_REQUEST: size = SIZE_SAFE_REQUEST; run = do_safe; break;
    case TYPE_SILENCE_REQUEST: size = SIZE_SILENCE_REQUEST; run = do_silence; break;
    case TYPE_STATS_REQUEST: size = SIZE_STATS_REQUEST; run = do_stats; break;
    case TYPE_NAME_REQUEST: size = SIZE_NAME_REQUEST; run = do_name; break;
    default: return REASON_UNKNOWN_TYPE;
    }
    if (request->length != size) {
        return REASON_BAD_LENGTH;
    }
    return run(state, request->body, answer);
}

void commands_answer(struct state *state, const struct frame *request, struct frame *answer)
{
    uint8_t reason;

    count(&state->counters.frames);
    silence_heard(&state->silence);
    answer->sequence = request->sequence;
    answer->type = (uint8_t)(request->type | PROTOCOL_ANSWER_BIT);
    /* Sequence 0 is the board's own: its answer could be taken for an event. */
    reason = request->sequence == 0 ? REASON_WRONG_STATE : dispatch(state, request, answer);
    if (reason != DONE) {
        struct refusal refusal = {.refused = request->type, .reason = reason};

        count(&state->counters.refused);
        answer->type = TYPE_REFUSAL;
        answer->length = refusal_write(answer->body, &refusal);
    }
}

void commands_booted(const struct state *state, struct frame *event)
{
    event->sequence = 0;
    event->type = TYPE_BOOTED_EVENT;
    event->length = write_hello(state, event->body);
}

void commands_input(uint8_t input, uint8_t press, struct frame *event)
{
    struct input_event change = {.input = input, .press = press};

    event->sequence = 0;
    event->type = TYPE_INPUT_EVENT;
    event->length = input_event_write(event->body, &change);
}

void commands_fall_silent(struct state *state)
{
    count(&state->counters.silences);
    for (uint8_t i = 0; i < CHANNELS; i++) {
        fade_to(&state->fades[i], state->settings.channels[i].safe_level, 0);
    }
}
