#include <string.h>

#include "../src/logic/commands.h"
#include "check.h"

static struct state state;
static struct frame answer;

static void ask(uint8_t type, const uint8_t *body, uint8_t length)
{
    struct frame request = {.length = length, .sequence = 42, .type = type};

    if (length != 0) {
        memcpy(request.body, body, length);
    }
    memset(&answer, 0xEE, sizeof answer);
    commands_answer(&state, &request, &answer);
    EQUAL(answer.sequence, 42);
    CHECK(answer.length <= PROTOCOL_MAX_BODY);
}

static void begin(void)
{
    memset(&state, 0, sizeof state);
}

static void refused(uint8_t type, const uint8_t *body, uint8_t length, uint8_t reason)
{
    ask(type, body, length);
    EQUAL(answer.type, TYPE_REFUSAL);
    EQUAL(answer.length, SIZE_REFUSAL);
    EQUAL(answer.body[0], type);
    EQUAL(answer.body[1], reason);
}

static void hello_says_who_it_is(void)
{
    begin();
    state.boots = 513;
    state.reset_cause = RESET_CAUSE_WATCHDOG;
    ask(TYPE_HELLO_REQUEST, NULL, 0);

    EQUAL(answer.type, TYPE_HELLO_ANSWER);
    EQUAL(answer.length, SIZE_HELLO_ANSWER);
    EQUAL(memcmp(answer.body, "HRTH", 4), 0);
    EQUAL(answer.body[4], PROTOCOL_VERSION);
    EQUAL(answer.body[15], DIM_CHANNELS);
    EQUAL(answer.body[16], RELAY_CHANNELS);
    EQUAL(answer.body[17], INPUTS);
    EQUAL(answer.body[18], RESET_CAUSE_WATCHDOG);
    EQUAL(protocol_u16(answer.body + 19), 513);
}

static void a_set_channel_is_read_back(void)
{
    begin();
    ask(TYPE_SET_REQUEST, (const uint8_t[]){3, 0x90, 0x01, 0, 0}, 5);
    EQUAL(answer.type, TYPE_SET_ANSWER);
    EQUAL(protocol_u16(answer.body + 3), 400);

    ask(TYPE_GET_REQUEST, (const uint8_t[]){3}, 1);
    EQUAL(protocol_u16(answer.body + 1), 400);
    EQUAL(answer.body[5], KIND_DIM);

    ask(TYPE_GET_REQUEST, (const uint8_t[]){6}, 1);
    EQUAL(answer.body[5], KIND_RELAY);
}

static void every_per_mille_is_read_back_as_it_was_set(void)
{
    begin();
    for (uint16_t level = 0; level <= 1000; level++) {
        uint8_t body[5] = {1};

        protocol_put_u16(body + 1, level);
        ask(TYPE_SET_REQUEST, body, 5);
        EQUAL(protocol_u16(answer.body + 1), level);
    }
}

static void all_channels_come_in_pages(void)
{
    begin();
    ask(TYPE_GET_ALL_REQUEST, (const uint8_t[]){0}, 1);
    EQUAL(answer.body[1], 7);
    EQUAL(answer.length, 30);
    ask(TYPE_GET_ALL_REQUEST, (const uint8_t[]){7}, 1);
    EQUAL(answer.body[0], 7);
    EQUAL(answer.body[1], 1);
    EQUAL(answer.length, 6);
}

static void every_wrong_length_of_every_type_is_refused_and_nothing_moves(void)
{
    static const uint8_t right[] = {0, 0, 5, 1, 1, 0, 4, 2, 0, 8};
    uint8_t body[PROTOCOL_MAX_BODY] = {0};

    begin();
    for (uint8_t type = TYPE_HELLO_REQUEST; type <= TYPE_NAME_REQUEST; type++) {
        for (uint8_t length = 0; length <= PROTOCOL_MAX_BODY; length++) {
            if (length != right[type]) {
                refused(type, body, length, REASON_BAD_LENGTH);
            }
        }
    }
    CHECK(!state.settings_changed);
}

static void every_unknown_type_is_refused(void)
{
    begin();
    for (unsigned type = 0; type < 256; type++) {
        if (type < TYPE_HELLO_REQUEST || type > TYPE_NAME_REQUEST) {
            refused((uint8_t)type, NULL, 0, REASON_UNKNOWN_TYPE);
        }
    }
}

static void a_channel_that_is_not_there_is_refused(void)
{
    begin();
    for (unsigned channel = CHANNELS; channel < 256; channel++) {
        uint8_t body[5] = {(uint8_t)channel};

        refused(TYPE_SET_REQUEST, body, 5, REASON_BAD_CHANNEL);
        refused(TYPE_GET_REQUEST, body, 1, REASON_BAD_CHANNEL);
        refused(TYPE_GET_ALL_REQUEST, body, 1, REASON_BAD_CHANNEL);
        refused(TYPE_SAFE_REQUEST, body, 4, REASON_BAD_CHANNEL);
    }
}

static void a_value_that_cannot_be_is_refused_and_nothing_moves(void)
{
    begin();
    refused(TYPE_SET_REQUEST, (const uint8_t[]){0, 0xE9, 0x03, 0, 0}, 5, REASON_BAD_VALUE); /* 1001 */
    refused(TYPE_SET_REQUEST, (const uint8_t[]){6, 0xF4, 0x01, 0, 0}, 5, REASON_BAD_VALUE); /* half a relay */
    refused(TYPE_SET_REQUEST, (const uint8_t[]){6, 0xE8, 0x03, 1, 0}, 5, REASON_BAD_VALUE); /* a relay that fades */
    refused(TYPE_SAFE_REQUEST, (const uint8_t[]){0, 0, 0, 3}, 4, REASON_BAD_VALUE);
    refused(TYPE_NAME_REQUEST, (const uint8_t[8]){0}, 8, REASON_BAD_VALUE);
    for (uint8_t i = 0; i < CHANNELS; i++) {
        EQUAL(state.fades[i].target, 0);
    }
    CHECK(!state.settings_changed);
    EQUAL(state.counters.refused, 5);
}

static void sequence_zero_is_refused(void)
{
    struct frame request = {.type = TYPE_HELLO_REQUEST};

    begin();
    commands_answer(&state, &request, &answer);
    EQUAL(answer.type, TYPE_REFUSAL);
    EQUAL(answer.body[1], REASON_WRONG_STATE);
}

static void a_board_is_named_once(void)
{
    begin();
    ask(TYPE_NAME_REQUEST, (const uint8_t[]){1, 2, 3, 4, 5, 6, 7, 8}, 8);
    EQUAL(answer.type, TYPE_NAME_ANSWER);
    CHECK(state.settings_changed);
    ask(TYPE_NAME_REQUEST, (const uint8_t[]){1, 2, 3, 4, 5, 6, 7, 8}, 8);
    EQUAL(answer.type, TYPE_NAME_ANSWER);
    refused(TYPE_NAME_REQUEST, (const uint8_t[]){9, 2, 3, 4, 5, 6, 7, 8}, 8, REASON_WRONG_STATE);
    EQUAL(state.settings.board_id[0], 1);
}

static void what_is_set_already_is_not_written_again(void)
{
    begin();
    ask(TYPE_SILENCE_REQUEST, (const uint8_t[]){100, 0}, 2);
    ask(TYPE_SAFE_REQUEST, (const uint8_t[]){0, 100, 0, 2}, 4);
    CHECK(state.settings_changed);
    state.settings_changed = false;
    ask(TYPE_SILENCE_REQUEST, (const uint8_t[]){100, 0}, 2);
    ask(TYPE_SAFE_REQUEST, (const uint8_t[]){0, 100, 0, 2}, 4);
    CHECK(!state.settings_changed);
}

static void counters_stay_at_their_end(void)
{
    begin();
    state.counters.frames = UINT16_MAX;
    ask(TYPE_STATS_REQUEST, NULL, 0);
    EQUAL(protocol_u16(answer.body), UINT16_MAX);
    EQUAL(answer.length, SIZE_STATS_ANSWER);
}

const struct test command_tests[] = {
    TEST(hello_says_who_it_is),
    TEST(a_set_channel_is_read_back),
    TEST(every_per_mille_is_read_back_as_it_was_set),
    TEST(all_channels_come_in_pages),
    TEST(every_wrong_length_of_every_type_is_refused_and_nothing_moves),
    TEST(every_unknown_type_is_refused),
    TEST(a_channel_that_is_not_there_is_refused),
    TEST(a_value_that_cannot_be_is_refused_and_nothing_moves),
    TEST(sequence_zero_is_refused),
    TEST(a_board_is_named_once),
    TEST(what_is_set_already_is_not_written_again),
    TEST(counters_stay_at_their_end),
    {0},
};
