/* A frame, and its form on the wire: see protocol.toml. */
#ifndef FRAME_H
#define FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

#define FRAME_HEAD 3u
#define FRAME_CRC 2u
#define FRAME_MAX (FRAME_HEAD + PROTOCOL_MAX_BODY + FRAME_CRC)
/* With its COBS code byte, and the zero before and after. */
#define FRAME_WIRE_MAX (FRAME_MAX + 3u)

struct frame {
    uint8_t length; /* of the body */
    uint8_t sequence;
    uint8_t type;
    uint8_t body[PROTOCOL_MAX_BODY];
};

/* Writes the frame with both its zeros, at most FRAME_WIRE_MAX bytes. Returns how many. */
uint8_t frame_write(const struct frame *frame, uint8_t *wire);

enum decoder_result {
    DECODER_MORE,    /* nothing is complete */
    DECODER_FRAME,   /* a good frame was read */
    DECODER_DAMAGED, /* what ended here was none */
};

/* Collects bytes up to a zero. Whatever came before, the frame after the next zero is read. */
struct decoder {
    uint8_t bytes[FRAME_MAX + 1u];
    uint8_t used;
    bool too_long;
};

void decoder_start(struct decoder *decoder);
enum decoder_result decoder_take(struct decoder *decoder, uint8_t byte, struct frame *frame);

#endif
