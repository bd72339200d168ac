/* Made by firmware/generate.py from firmware/protocol.toml; change it there. */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include <stdint.h>

#define PROTOCOL_BAUD 115200u
#define PROTOCOL_VERSION 1u
#define PROTOCOL_MAGIC "HRTH"
#define PROTOCOL_MAX_BODY 32u
#define PROTOCOL_ANSWER_BIT 128u
#define PROTOCOL_MAX_LEVEL 1000u
#define PROTOCOL_FADE_UNIT_MS 10u
#define PROTOCOL_SILENCE_UNIT_MS 100u
#define PROTOCOL_PAGE 7u

/* What hangs on a channel. */
#define KIND_DIM 0u
#define KIND_RELAY 1u

/* What a channel does after power was away. A reset without a loss of power keeps the levels, whatever is said here. */
#define BOOT_LEVEL_OFF 0u
#define BOOT_LEVEL_SAFE 1u
#define BOOT_LEVEL_LAST 2u

/* What an input did. A short press ends with released, then short; a long one gives long while it is still held. */
#define PRESS_PRESSED 0u
#define PRESS_RELEASED 1u
#define PRESS_SHORT 2u
#define PRESS_LONG 3u

/* Why a request was refused. */
#define REASON_UNKNOWN_TYPE 1u
#define REASON_BAD_LENGTH 2u
#define REASON_BAD_CHANNEL 3u
#define REASON_BAD_VALUE 4u
#define REASON_WRONG_STATE 5u

/* What began this run, as the chip's MCUSR has it; none where a bootloader took it away. */
#define RESET_CAUSE_POWER_ON 1u
#define RESET_CAUSE_EXTERNAL 2u
#define RESET_CAUSE_BROWN_OUT 4u
#define RESET_CAUSE_WATCHDOG 8u

#define TYPE_HELLO_REQUEST 0x01u
#define TYPE_HELLO_ANSWER 0x81u
#define TYPE_SET_REQUEST 0x02u
#define TYPE_SET_ANSWER 0x82u
#define TYPE_GET_REQUEST 0x03u
#define TYPE_GET_ANSWER 0x83u
#define TYPE_GET_ALL_REQUEST 0x04u
#define TYPE_GET_ALL_ANSWER 0x84u
#define TYPE_INPUTS_REQUEST 0x05u
#define TYPE_INPUTS_ANSWER 0x85u
#define TYPE_SAFE_REQUEST 0x06u
#define TYPE_SAFE_ANSWER 0x86u
#define TYPE_SILENCE_REQUEST 0x07u
#define TYPE_SILENCE_ANSWER 0x87u
#define TYPE_STATS_REQUEST 0x08u
#define TYPE_STATS_ANSWER 0x88u
#define TYPE_NAME_REQUEST 0x09u
#define TYPE_NAME_ANSWER 0x89u
#define TYPE_REFUSAL 0xFFu
#define TYPE_INPUT_EVENT 0xC0u
#define TYPE_BOOTED_EVENT 0xC1u

#define SIZE_HELLO_REQUEST 0u
#define SIZE_HELLO_ANSWER 21u
#define SIZE_SET_REQUEST 5u
#define SIZE_SET_ANSWER 5u
#define SIZE_GET_REQUEST 1u
#define SIZE_GET_ANSWER 6u
#define SIZE_GET_ALL_REQUEST 1u
#define SIZE_GET_ALL_ANSWER 2u
#define SIZE_INPUTS_REQUEST 0u
#define SIZE_INPUTS_ANSWER 1u
#define SIZE_SAFE_REQUEST 4u
#define SIZE_SAFE_ANSWER 4u
#define SIZE_SILENCE_REQUEST 2u
#define SIZE_SILENCE_ANSWER 2u
#define SIZE_STATS_REQUEST 0u
#define SIZE_STATS_ANSWER 18u
#define SIZE_NAME_REQUEST 8u
#define SIZE_NAME_ANSWER 8u
#define SIZE_REFUSAL 2u
#define SIZE_INPUT_EVENT 2u
#define SIZE_BOOTED_EVENT 21u

static inline uint16_t protocol_u16(const uint8_t *at)
{
    return (uint16_t)(at[0] | (uint16_t)((uint16_t)at[1] << 8));
}

static inline void protocol_put_u16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static inline void protocol_put_u32(uint8_t *at, uint32_t value)
{
    protocol_put_u16(at, (uint16_t)value);
    protocol_put_u16(at + 2, (uint16_t)(value >> 16));
}

/* Answers hello. */
struct hello_answer {
    uint8_t magic[4]; /* HRTH */
    uint8_t protocol; /* version of this description; another one is another wire */
    uint8_t major; /* of the firmware's version */
    uint8_t minor; /* of the firmware's version */
    uint8_t board_id[8]; /* zeros until the name request has set it */
    uint8_t dim_channels; /* they are numbered from 0 */
    uint8_t relay_channels; /* they are numbered after the dimmable ones */
    uint8_t inputs; /* how many */
    uint8_t reset_cause; /* bits of reset_cause */
    uint16_t boots; /* counts the starts that lasted 20 ms, wraps; a new number means a reset was between */
};

static inline uint8_t hello_answer_write(uint8_t *body, const struct hello_answer *from)
{
    for (uint8_t i = 0; i < 4; i++) {
        body[0 + i] = from->magic[i];
    }
    body[4] = from->protocol;
    body[5] = from->major;
    body[6] = from->minor;
    for (uint8_t i = 0; i < 8; i++) {
        body[7 + i] = from->board_id[i];
    }
    body[15] = from->dim_channels;
    body[16] = from->relay_channels;
    body[17] = from->inputs;
    body[18] = from->reset_cause;
    protocol_put_u16(body + 19, from->boots);
    return SIZE_HELLO_ANSWER;
}

/* Brings a channel to a level, which is absolute: sent twice it does no more than once. */
struct set_request {
    uint8_t channel; /* dimmable ones first, then relays */
    uint16_t level; /* 0 to 1000 per mille of perceived brightness; a relay takes 0 or 1000 only */
    uint16_t fade; /* in 10 ms, 0 is at once; a relay takes 0 only */
};

static inline void set_request_read(const uint8_t *body, struct set_request *to)
{
    to->channel = body[0];
    to->level = protocol_u16(body + 1);
    to->fade = protocol_u16(body + 3);
}

/* Answers set. */
struct set_answer {
    uint8_t channel; /* as asked */
    uint16_t level; /* now, per mille; where a fade begins */
    uint16_t target; /* per mille */
};

static inline uint8_t set_answer_write(uint8_t *body, const struct set_answer *from)
{
    body[0] = from->channel;
    protocol_put_u16(body + 1, from->level);
    protocol_put_u16(body + 3, from->target);
    return SIZE_SET_ANSWER;
}

/* How a channel is. */
struct get_request {
    uint8_t channel; /* which */
};

static inline void get_request_read(const uint8_t *body, struct get_request *to)
{
    to->channel = body[0];
}

/* Answers get. */
struct get_answer {
    uint8_t channel; /* as asked */
    uint16_t level; /* now, per mille */
    uint16_t target; /* per mille */
    uint8_t kind; /* one of kind */
};

static inline uint8_t get_answer_write(uint8_t *body, const struct get_answer *from)
{
    body[0] = from->channel;
    protocol_put_u16(body + 1, from->level);
    protocol_put_u16(body + 3, from->target);
    body[5] = from->kind;
    return SIZE_GET_ANSWER;
}

/* How the channels from one on are; at most 7 in an answer, so ask again from first + 7 on. */
struct get_all_request {
    uint8_t first; /* a channel that is there */
};

static inline void get_all_request_read(const uint8_t *body, struct get_all_request *to)
{
    to->first = body[0];
}

/* Answers get_all. */
struct get_all_answer {
    uint8_t first; /* as asked */
    uint8_t count; /* how many follow */
};

static inline uint8_t get_all_answer_write(uint8_t *body, const struct get_all_answer *from)
{
    body[0] = from->first;
    body[1] = from->count;
    return SIZE_GET_ALL_ANSWER;
}

/* Answers inputs. */
struct inputs_answer {
    uint8_t bits; /* bit n is input n, 1 is pressed */
};

static inline uint8_t inputs_answer_write(uint8_t *body, const struct inputs_answer *from)
{
    body[0] = from->bits;
    return SIZE_INPUTS_ANSWER;
}

/* What a channel falls to when the host is silent, and what it does after power was away. Kept in EEPROM. */
struct safe_request {
    uint8_t channel; /* which */
    uint16_t safe_level; /* 0 to 1000 per mille; a relay takes 0 or 1000 only */
    uint8_t boot_level; /* one of boot_level */
};

static inline void safe_request_read(const uint8_t *body, struct safe_request *to)
{
    to->channel = body[0];
    to->safe_level = protocol_u16(body + 1);
    to->boot_level = body[3];
}

/* Answers safe. */
struct safe_answer {
    uint8_t channel; /* as asked */
    uint16_t safe_level; /* per mille */
    uint8_t boot_level; /* one of boot_level */
};

static inline uint8_t safe_answer_write(uint8_t *body, const struct safe_answer *from)
{
    body[0] = from->channel;
    protocol_put_u16(body + 1, from->safe_level);
    body[3] = from->boot_level;
    return SIZE_SAFE_ANSWER;
}

/* After how long without a good frame of the host all channels fall to their safe level. Kept in EEPROM. */
struct silence_request {
    uint16_t period; /* in 100 ms; 0 is never, as it leaves the factory */
};

static inline void silence_request_read(const uint8_t *body, struct silence_request *to)
{
    to->period = protocol_u16(body + 0);
}

/* Answers silence. */
struct silence_answer {
    uint16_t period; /* in 100 ms */
};

static inline uint8_t silence_answer_write(uint8_t *body, const struct silence_answer *from)
{
    protocol_put_u16(body + 0, from->period);
    return SIZE_SILENCE_ANSWER;
}

/* Answers stats. */
struct stats_answer {
    uint16_t frames; /* good frames */
    uint16_t damaged; /* frames with a wrong checksum, length or coding */
    uint16_t overruns; /* bytes lost before they were read, and bytes with a framing error */
    uint16_t refused; /* requests refused */
    uint16_t silences; /* times that the host's silence moved the channels to their safe levels */
    uint16_t level_writes; /* times that the levels were written to EEPROM */
    uint16_t longest_loop; /* the longest turn of the main loop, in microseconds */
    uint32_t uptime; /* in seconds */
};

static inline uint8_t stats_answer_write(uint8_t *body, const struct stats_answer *from)
{
    protocol_put_u16(body + 0, from->frames);
    protocol_put_u16(body + 2, from->damaged);
    protocol_put_u16(body + 4, from->overruns);
    protocol_put_u16(body + 6, from->refused);
    protocol_put_u16(body + 8, from->silences);
    protocol_put_u16(body + 10, from->level_writes);
    protocol_put_u16(body + 12, from->longest_loop);
    protocol_put_u32(body + 14, from->uptime);
    return SIZE_STATS_ANSWER;
}

/* Gives a board without an id its own, once; refused with wrong_state where it has one. Kept in EEPROM. */
struct name_request {
    uint8_t board_id[8]; /* random bytes of the host, not all zeros */
};

static inline void name_request_read(const uint8_t *body, struct name_request *to)
{
    for (uint8_t i = 0; i < 8; i++) {
        to->board_id[i] = body[0 + i];
    }
}

/* Answers name. */
struct name_answer {
    uint8_t board_id[8]; /* as given */
};

static inline uint8_t name_answer_write(uint8_t *body, const struct name_answer *from)
{
    for (uint8_t i = 0; i < 8; i++) {
        body[0 + i] = from->board_id[i];
    }
    return SIZE_NAME_ANSWER;
}

/* The answer to any request that was not done. Nothing has moved. */
struct refusal {
    uint8_t refused; /* the request's type */
    uint8_t reason; /* one of reason */
};

static inline uint8_t refusal_write(uint8_t *body, const struct refusal *from)
{
    body[0] = from->refused;
    body[1] = from->reason;
    return SIZE_REFUSAL;
}

/* An input changed. */
struct input_event {
    uint8_t input; /* which */
    uint8_t press; /* one of press */
};

static inline uint8_t input_event_write(uint8_t *body, const struct input_event *from)
{
    body[0] = from->input;
    body[1] = from->press;
    return SIZE_INPUT_EVENT;
}

#endif
