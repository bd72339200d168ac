/* COBS: bytes without a zero among them, so that a zero can only be the end of a frame. */
#ifndef COBS_H
#define COBS_H

#include <stdint.h>

/* A frame is always shorter than the 254 bytes from which COBS would need a second code byte. */
#define COBS_BAD 0xFFu

/* Writes length + 1 bytes; length is at most 253. Returns how many were written. */
uint8_t cobs_encode(uint8_t *to, const uint8_t *from, uint8_t length);

/* Decodes in place; returns the length, or COBS_BAD. */
uint8_t cobs_decode(uint8_t *bytes, uint8_t length);

#endif
