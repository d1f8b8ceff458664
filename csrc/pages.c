#define _DEFAULT_SOURCE /* madvise */

#include "pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LARGE_PAGE = 1 << 21 };

void *pages_alloc(size_t n) {
#ifdef MADV_HUGEPAGE
    if (n >= LARGE_PAGE / 2) {
        const size_t whole = (n + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
        void *const pages = whole < n ? NULL : aligned_alloc(LARGE_PAGE, whole);
        if (pages) {
            madvise(pages, whole, MADV_HUGEPAGE); /* a wish; before the first write */
            memset(pages, 0, n);
        }
        return pages;
    }
#endif
    return calloc(n, 1);
}
