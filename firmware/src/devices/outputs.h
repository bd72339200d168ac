/* The lamps and relays. */
#ifndef OUTPUTS_H
#define OUTPUTS_H

#include <stdint.h>

/* Brings a channel's pin to a level in per mille, at once; nothing where it is there. */
void output_show(uint8_t channel, uint16_t level);

/* Before the first level: what the pins were told is not known. */
void outputs_start(void);

#endif
