/* A ring of bytes. */
#ifndef RING_H
#define RING_H

#include <stddef.h>

#define RING_SIZE 64
#define RING_NEXT(i) (((i) + 1) % RING_SIZE)

/** The ring itself. */
typedef struct ring {
    unsigned char bytes[RING_SIZE];
    size_t head, tail;
} ring_t;

enum ring_state { RING_EMPTY, RING_FULL };

typedef int (*ring_visitor)(unsigned char byte, void *data);

/** Takes one byte out, or returns -1. */
int ring_take(ring_t *ring);

#endif /* RING_H */
