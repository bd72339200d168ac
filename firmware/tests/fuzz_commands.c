/*
 * Any requests in good frames, with time, presses and resets between: what is answered and what the board is stay
 * within their bounds. The input is a list of steps: what to do, its length, its bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "../src/logic/commands.h"
#include "fake_chip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEP_WAIT 0xF0u
#define STEP_PRESS 0xF1u
#define STEP_RESET 0xF2u
#define STEP_POWER 0xF3u

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

static void check_answer(uint8_t type, const struct frame *answer)
{
    must(answer->length <= PROTOCOL_MAX_BODY);
    if (answer->type == TYPE_REFUSAL) {
        must(answer->length == SIZE_REFUSAL && answer->body[0] == type);
        must(answer->body[1] >= REASON_UNKNOWN_TYPE && answer->body[1] <= REASON_WRONG_STATE);
    } else {
        must(answer->type == (type | PROTOCOL_ANSWER_BIT));
    }
}

static void check_board(void)
{
    struct frame answer;

    for (uint8_t channel = 0; channel < CHANNELS; channel++) {
        must(fake_chip_ask(TYPE_GET_REQUEST, &channel, 1, &answer));
        must(channel_takes(channel, protocol_u16(answer.body + 1)));
        must(channel_takes(channel, protocol_u16(answer.body + 3)));
        if (channel_is_relay(channel)) {
            must(chip.relays[channel - DIM_CHANNELS] == (protocol_u16(answer.body + 1) != 0));
        } else {
            must(chip.counts[channel] <= hal_pwm_all(channel));
            must((chip.counts[channel] != 0) == (protocol_u16(answer.body + 1) != 0));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct frame answer;

    fake_chip_new();
    fake_chip_boot(RESET_CAUSE_POWER_ON);
    for (unsigned steps = 0; size >= 2 && steps < 64; steps++) {
        uint8_t what = data[0];
        uint8_t length = data[1] > PROTOCOL_MAX_BODY ? PROTOCOL_MAX_BODY : data[1];

        data += 2;
        size -= 2;
        length = length > size ? (uint8_t)size : length;
        switch (what) {
        case STEP_WAIT: fake_chip_run(length == 0 ? 1 : data[0] * 10u); break;
        case STEP_PRESS: chip.inputs = length == 0 ? 0 : data[0]; break;
        case STEP_RESET: fake_chip_boot(RESET_CAUSE_EXTERNAL); break;
        case STEP_POWER: fake_chip_lose_power(); fake_chip_boot(RESET_CAUSE_POWER_ON); break;
        default:
            must(fake_chip_ask(what, data, length, &answer));
            check_answer(what, &answer);
        }
        data += length;
        size -= length;
    }
    check_board();
    return 0;
}
