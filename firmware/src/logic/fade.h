/* A level on its way to another, in steps of 10 ms. */
#ifndef FADE_H
#define FADE_H

#include <stdint.h>

struct fade {
    uint16_t start;    /* per mille */
    uint16_t target;   /* per mille */
    uint16_t duration; /* in 10 ms */
    uint16_t elapsed;  /* in 10 ms, up to duration */
};

/* From where it is now; a duration of 0 is at once. */
void fade_to(struct fade *fade, uint16_t target, uint16_t duration);
/* Ten milliseconds later. */
void fade_step(struct fade *fade);
/* Now, per mille. */
uint16_t fade_level(const struct fade *fade);

#endif
