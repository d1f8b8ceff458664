#include "unicode.h"

#include <string.h>

bool unicode_is_nfc(const uint8_t *text, size_t n) {
    static const uint64_t high_bits = 0x8080808080808080u;
    const uint8_t *const end = text + n;
    for (const uint8_t *p = text; p < end;) {
        uint64_t eight;
        if (end - p >= 8 && (memcpy(&eight, p, 8), (eight & high_bits) == 0)) {
            p += 8;
        } else if (unicode_is_han(p, end)) {
            p += 3;
        } else {
            const unicode_scalar scalar = unicode_decode(p, end);
            if (unicode_class(scalar.point) & UNICODE_MAY_COMPOSE) {
                return false;
            }
            p += scalar.length;
        }
    }
    return true;
}
