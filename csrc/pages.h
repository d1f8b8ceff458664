/* Memory for large tables that are read all over the place. */
#ifndef TWINVOX_PAGES_H
#define TWINVOX_PAGES_H

#include <stddef.h>

/* n zero bytes, in large pages where the system grants them, as finding the page of an address
 * otherwise costs more than the read itself. NULL without memory; to be freed by free(). */
void *pages_alloc(size_t n);

#endif
