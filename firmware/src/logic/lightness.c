#include "lightness.h"

/*
 * CIE 1931 lightness: with L* = level / 10, Y = L* / 903.3 up to L* = 8, then ((L* + 16) / 116) cubed. Unlike a
 * plain power it begins with a straight line, so that the lowest levels of a timer with few counts differ.
 * In whole numbers: (level + 160)^3 is at most 1160^3, and 1160^3 / 65535 is 23818.
 */
uint16_t lightness_share(uint16_t level)
{
    uint32_t sum = (uint32_t)level + 160u;

    if (level >= 1000) {
        return 65535u;
    }
    if (level <= 80) {
        return (uint16_t)((uint32_t)level * 65535u / 9033u);
    }
    return (uint16_t)(sum * sum * sum / 23818u);
}

uint16_t lightness_counts(uint16_t level, uint16_t all, uint16_t least)
{
    uint16_t counts = (uint16_t)(((uint32_t)lightness_share(level) * all + 32768u) / 65535u);

    if (level != 0 && counts < least) {
        return least;
    }
    return counts;
}
