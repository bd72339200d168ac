/* What the board remembers: levels in RAM over a reset, and in EEPROM over a loss of power; settings; its starts. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "../logic/channels.h"
#include "../logic/settings.h"

/* Reads the settings; the levels' ring, which takes longer, is read when it is asked for, or by memory_start. */
void memory_open(struct settings *settings);
/* After the outputs drive: finds the levels' ring, counts this start. Returns which start this is. */
uint16_t memory_start(void);

/* The levels as the last run left them in RAM; false where power was away, or a reset came amid a write. */
bool memory_kept_levels(uint16_t *levels);
void memory_keep_levels(const uint16_t *levels);

/* The levels as they were last written to EEPROM; false where none were. */
bool memory_stored_levels(uint16_t *levels);
/* Begins to write them; false while the last write runs. */
bool memory_store_levels(const uint16_t *levels);
bool memory_store_settings(const struct settings *settings);

/* Writes a byte to EEPROM where one is due. */
void memory_step(void);

#endif
