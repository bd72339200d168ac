/* When levels are worth a write to EEPROM. */
#ifndef KEEP_H
#define KEEP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A cell of the EEPROM bears 100,000 writes. The ring of 40 records bears 4 million, and with at most one a minute
 * that is more than 7 years of a change in every minute of day and night.
 */
#define KEEP_SETTLED 50u /* in 100 ms: how long no level has changed */
#define KEEP_APART 600u  /* in 100 ms: the least between two writes */

struct keep {
    uint16_t settled; /* in 100 ms since the last change */
    uint16_t apart;   /* in 100 ms since the last write */
};

void keep_start(struct keep *keep);
void keep_changed(struct keep *keep);
/* A tenth of a second later. True when what differs from the record is to be written. */
bool keep_step(struct keep *keep, bool differs);
void keep_written(struct keep *keep);

#endif
