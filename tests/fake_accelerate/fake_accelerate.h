/* What a test can do to the double that it cannot do to Accelerate. */
#ifndef FAKE_ACCELERATE_CONTROL_H
#define FAKE_ACCELERATE_CONTROL_H

#include <stdbool.h>

extern bool fake_accelerate_has_memory;

#endif
