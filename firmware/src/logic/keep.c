#include "keep.h"

void keep_start(struct keep *keep)
{
    keep->settled = 0;
    keep->apart = KEEP_APART;
}

void keep_changed(struct keep *keep)
{
    keep->settled = 0;
}

bool keep_step(struct keep *keep, bool differs)
{
    if (keep->settled < KEEP_SETTLED) {
        keep->settled++;
    }
    if (keep->apart < KEEP_APART) {
        keep->apart++;
    }
    return differs && keep->settled == KEEP_SETTLED && keep->apart == KEEP_APART;
}

void keep_written(struct keep *keep)
{
    keep->apart = 0;
}
