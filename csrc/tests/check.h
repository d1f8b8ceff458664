/* One macro for the C tests: a false condition names itself and fails the program. */
#ifndef TWINVOX_CHECK_H
#define TWINVOX_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

#endif
