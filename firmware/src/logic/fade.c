#include "fade.h"

void fade_to(struct fade *fade, uint16_t target, uint16_t duration)
{
    fade->start = fade_level(fade);
    fade->target = target;
    fade->duration = duration;
    fade->elapsed = 0;
}

void fade_step(struct fade *fade)
{
    if (fade->elapsed < fade->duration) {
        fade->elapsed++;
    }
}

/* Always from both ends, so a long fade does not drift: 1000 * 65535 fits 32 bits. */
uint16_t fade_level(const struct fade *fade)
{
    if (fade->elapsed >= fade->duration) {
        return fade->target;
    }
    if (fade->target >= fade->start) {
        uint32_t way = (uint32_t)(fade->target - fade->start) * fade->elapsed / fade->duration;
        return (uint16_t)(fade->start + way);
    }
    return (uint16_t)(fade->start - (uint32_t)(fade->start - fade->target) * fade->elapsed / fade->duration);
}
