#include "cobs.h"

uint8_t cobs_encode(uint8_t *to, const uint8_t *from, uint8_t length)
{
    uint8_t code_at = 0;
    uint8_t used = 1;

    for (uint8_t i = 0; i < length; i++) {
        if (from[i] == 0) {
            to[code_at] = (uint8_t)(used - code_at);
            code_at = used;
            used++;
        } else {
            to[used] = from[i];
            used++;
        }
    }
    to[code_at] = (uint8_t)(used - code_at);
    return used;
}

uint8_t cobs_decode(uint8_t *bytes, uint8_t length)
{
    uint8_t from = 0;
    uint8_t to = 0;

    while (from < length) {
        uint8_t code = bytes[from];

        if (code == 0 || code > length - from) {
            return COBS_BAD;
        }
        from++;
        for (uint8_t i = 1; i < code; i++) {
            bytes[to] = bytes[from];
            to++;
            from++;
        }
        if (from < length) {
            bytes[to] = 0;
            to++;
        }
    }
    return to;
}
