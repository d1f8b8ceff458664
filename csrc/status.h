/* What every fallible function of csrc returns. */
#ifndef TWINVOX_STATUS_H
#define TWINVOX_STATUS_H

typedef enum {
    STATUS_OK = 0,
    STATUS_NO_MEMORY,
    STATUS_BAD_ARGUMENT,
} status;

#endif
