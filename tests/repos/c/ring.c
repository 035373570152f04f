#include "ring.h"

#include <stdlib.h>

static const char *const NAMES[] = {"empty", "full"};

struct stats {
    long taken;
};

/* How much is in it. */
static size_t
ring_count(const ring_t *ring)
{
    return ring->head - ring->tail;
}

// Makes an empty ring.
ring_t *ring_new(void) {
    ring_t *ring = calloc(1, sizeof(ring_t));
    return ring;
}

int ring_take(ring_t *ring) {
    if (ring_count(ring) == 0) {
        return -1;
    }
    ring->tail = RING_NEXT(ring->tail);
    return ring->bytes[ring->tail];
}
