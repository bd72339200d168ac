/* How much light looks like a level: the gamma of the outputs. */
#ifndef LIGHTNESS_H
#define LIGHTNESS_H

#include <stdint.h>

/* The share of full light, 0 to 65535, that looks like a level of 0 to 1000 per mille. */
uint16_t lightness_share(uint16_t level);

/* The same in counts of a timer of which all is full light; any light at all is at least the least count. */
uint16_t lightness_counts(uint16_t level, uint16_t all, uint16_t least);

#endif
