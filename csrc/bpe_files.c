#include "bpe_files.h"

#include <stdlib.h>
#include <string.h>

#include "unicode.h"

enum { NO_BYTE = -1, NO_DIGIT = 0xff, MIN_ENTRY = 4, MAX_FILE = 1 << 28 };

/* What is left of a file. */
typedef struct {
    const uint8_t *p;
    const uint8_t *end;
} reader;

/* Tokens as they come; length 0 tells that an id has not come yet. */
typedef struct {
    uint32_t start, length;
} span;

typedef struct {
    uint8_t *bytes;
    span *spans;
    size_t n_bytes;
    size_t n;
    size_t capacity; /* of spans, and more than any valid id */
} gathering;

static bpe_fault gather_begin(gathering *g, size_t file_size) {
    *g = (gathering){.capacity = file_size / MIN_ENTRY + 1};
    if (file_size > MAX_FILE) {
        return BPE_TOO_LARGE;
    }
    g->bytes = malloc(file_size + 1);
    g->spans = calloc(g->capacity, sizeof *g->spans);
    return g->bytes && g->spans ? BPE_SOUND : BPE_NO_MEMORY;
}

/* Takes the bytes written behind n_bytes as the token of that id, which is below capacity. */
static bpe_fault gather(gathering *g, size_t length, size_t id, size_t *at) {
    if (length == 0 || g->spans[id].length > 0) {
        *at = id;
        return length == 0 ? BPE_BAD_LENGTH : BPE_REPEATED_ID;
    }
    g->spans[id] = (span){(uint32_t)g->n_bytes, (uint32_t)length};
    g->n_bytes += length;
    g->n++;
    return BPE_SOUND;
}

/* The tokens in the order of their ids. */
static bpe_fault gather_end(const gathering *g, byte_strings *out, size_t *at) {
    uint8_t *const bytes = malloc(g->n_bytes + 1);
    uint32_t *const ends = malloc((g->n + 1) * sizeof *ends);
    *out = (byte_strings){bytes, ends, g->n};
    if (!bytes || !ends) {
        return BPE_NO_MEMORY;
    }
    uint32_t end = 0;
    for (size_t id = 0; id < g->n; id++) {
        const span token = g->spans[id];
        if (token.length == 0) {
            *at = id;
            return BPE_MISSING_ID;
        }
        memcpy(bytes + end, g->bytes + token.start, token.length);
        end += token.length;
        ends[id] = end;
    }
    return BPE_SOUND;
}

/* A whole number, without sign or leading zero; SIZE_MAX where there is none or it is too long. */
static size_t read_number(reader *r) {
    const uint8_t *const first = r->p;
    size_t number = 0;
    while (r->p < r->end && *r->p >= '0' && *r->p <= '9') {
        number = number * 10 + (size_t)(*r->p++ - '0');
        if (r->p - first > 9) {
            return SIZE_MAX;
        }
    }
    const bool none = r->p == first || (*first == '0' && r->p - first > 1);
    return none ? SIZE_MAX : number;
}

static bool take(reader *r, char wanted) {
    if (r->p < r->end && *r->p == (uint8_t)wanted) {
        r->p++;
        return true;
    }
    return false;
}

/* The line at r, without its end; r goes on to the next. */
static reader take_line(reader *r) {
    const uint8_t *const newline = memchr(r->p, '\n', (size_t)(r->end - r->p));
    reader line = {r->p, newline ? newline : r->end};
    r->p = newline ? newline + 1 : r->end;
    if (line.end > line.p && line.end[-1] == '\r') {
        line.end--;
    }
    return line;
}

static uint8_t base64_digit(uint8_t c) {
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '+' ? 62 : c == '/' ? 63 : NO_DIGIT;
}

/* Decodes padded Base64 up to a space; how many bytes, SIZE_MAX where it is malformed. */
static size_t read_base64(reader *r, uint8_t *out) {
    uint8_t *const first = out;
    while (r->end - r->p >= 4 && *r->p != ' ') {
        const uint8_t *const q = r->p;
        const size_t padding = q[3] != '=' ? 0 : q[2] != '=' ? 1 : 2;
        uint32_t bits = 0;
        for (size_t i = 0; i < 4; i++) {
            const uint8_t digit = i < 4 - padding ? base64_digit(q[i]) : 0;
            if (digit == NO_DIGIT) {
                return SIZE_MAX;
            }
            bits = bits << 6 | digit;
        }
        if (bits & ((1u << (8 * padding)) - 1)) {
            return SIZE_MAX;
        }
        for (size_t i = 0; i < 3 - padding; i++) {
            *out++ = (uint8_t)(bits >> (16 - 8 * i));
        }
        r->p += 4;
        if (padding > 0) {
            break;
        }
    }
    return (size_t)(out - first);
}

static bpe_fault gather_tiktoken(gathering *g, reader file, size_t *at) {
    for (size_t number = 1; file.p < file.end; number++) {
        reader line = take_line(&file);
        if (line.p == line.end) {
            continue;
        }
        *at = number;
        const size_t length = read_base64(&line, g->bytes + g->n_bytes);
        if (length == SIZE_MAX || !take(&line, ' ')) {
            return BPE_BAD_LINE;
        }
        const size_t id = read_number(&line);
        if (id >= g->capacity || line.p < line.end) {
            return BPE_BAD_LINE_ID;
        }
        const bpe_fault fault = gather(g, length, id, at);
        if (fault) {
            return fault;
        }
    }
    return BPE_SOUND;
}

/* GPT-2's alphabet: visible characters stand for their own byte, those from U+0100 on for the
 * others in turn. */
static int alphabet_byte(uint32_t point) {
    if ((point >= '!' && point <= '~') || (point >= 0xa1 && point <= 0xff && point != 0xad)) {
        return (int)point;
    }
    const uint32_t other = point - 0x100; /* wraps for what is below */
    return other <= 0x20   ? (int)other
           : other <= 0x42 ? (int)(other - 0x21 + 0x7f)
           : other == 0x43 ? 0xad
                           : NO_BYTE;
}

/* The byte that the character at r, which is not at its end, stands for; goes on behind it. */
static inline int take_byte(reader *r) {
    if (*r->p > ' ' && *r->p < 0x7f) {
        return *r->p++;
    }
    const unicode_scalar scalar = unicode_decode(r->p, r->end);
    r->p += scalar.length;
    return alphabet_byte(scalar.point);
}

static void skip_white(reader *r) {
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r')) {
        r->p++;
    }
}

/* The character that the escape at r, behind its backslash, stands for; none in the alphabet needs
 * a surrogate pair. */
static uint32_t read_escape(reader *r) {
    if (take(r, '"')) {
        return '"';
    }
    if (take(r, '\\')) {
        return '\\';
    }
    if (take(r, '/')) {
        return '/';
    }
    if (!take(r, 'u') || r->end - r->p < 4) {
        return 0;
    }
    uint32_t point = 0;
    for (size_t i = 0; i < 4; i++) {
        const uint8_t c = *r->p++;
        const uint32_t digit = c >= '0' && c <= '9'   ? c - '0' + 0u
                               : c >= 'a' && c <= 'f' ? c - 'a' + 10u
                               : c >= 'A' && c <= 'F' ? c - 'A' + 10u
                                                      : NO_DIGIT;
        if (digit == NO_DIGIT) {
            return 0;
        }
        point = point << 4 | digit;
    }
    return point;
}

/* The bytes of the token in the JSON string at r, behind its opening quote, with the closing one;
 * SIZE_MAX where it is malformed. */
static size_t read_json_token(reader *r, uint8_t *out) {
    uint8_t *const first = out;
    while (!take(r, '"')) {
        if (r->p == r->end) {
            return SIZE_MAX;
        }
        const int byte = take(r, '\\') ? alphabet_byte(read_escape(r)) : take_byte(r);
        if (byte == NO_BYTE) {
            return SIZE_MAX;
        }
        *out++ = (uint8_t)byte;
    }
    return (size_t)(out - first);
}

static bpe_fault gather_json_entries(gathering *g, const uint8_t *first, reader *r, size_t *at) {
    do {
        skip_white(r);
        *at = (size_t)(r->p - first);
        const size_t length =
            take(r, '"') ? read_json_token(r, g->bytes + g->n_bytes) : SIZE_MAX;
        skip_white(r);
        if (length == SIZE_MAX || !take(r, ':')) {
            return BPE_BAD_JSON;
        }
        skip_white(r);
        const size_t at_id = (size_t)(r->p - first);
        const size_t id = read_number(r);
        if (id >= g->capacity) {
            *at = at_id;
            return BPE_BAD_JSON_ID;
        }
        const bpe_fault fault = gather(g, length, id, at);
        if (fault) {
            return fault;
        }
        skip_white(r);
    } while (take(r, ','));
    return BPE_SOUND;
}

static bpe_fault gather_vocab_json(gathering *g, reader file, size_t *at) {
    const uint8_t *const first = file.p;
    skip_white(&file);
    *at = (size_t)(file.p - first);
    if (!take(&file, '{')) {
        return BPE_BAD_JSON;
    }
    const bpe_fault fault = gather_json_entries(g, first, &file, at);
    if (fault) {
        return fault;
    }
    *at = (size_t)(file.p - first);
    if (!take(&file, '}')) {
        return BPE_BAD_JSON;
    }
    skip_white(&file);
    *at = (size_t)(file.p - first);
    return file.p == file.end ? BPE_SOUND : BPE_BAD_JSON;
}

bpe_fault bpe_load(bpe_format format, const uint8_t *file, size_t n, bpe **out, size_t *at) {
    const reader all = {file, file + n};
    byte_strings tokens = {0};
    gathering g;
    *out = NULL;
    *at = 0;
    bpe_fault fault = gather_begin(&g, n);
    if (!fault) {
        fault = format == BPE_TIKTOKEN ? gather_tiktoken(&g, all, at)
                                       : gather_vocab_json(&g, all, at);
    }
    if (!fault) {
        fault = gather_end(&g, &tokens, at);
    }
    if (!fault) {
        fault = bpe_create(&tokens, out, at);
    }
    free(g.bytes);
    free(g.spans);
    free((void *)tokens.bytes);
    free((void *)tokens.ends);
    return fault;
}

/* Takes the token, in GPT-2's alphabet, from the beginning of r. */
static bool take_token(reader *r, const bpe *b, uint32_t id) {
    size_t length = 0;
    const uint8_t *const bytes = bpe_token_bytes(b, (int32_t)id, &length);
    for (size_t i = 0; i < length; i++) {
        if (r->p == r->end || take_byte(r) != bytes[i]) {
            return false;
        }
    }
    return true;
}

bpe_fault bpe_check_merges(const bpe *b, const uint8_t *file, size_t n, size_t *at) {
    static const char version[] = "#version";
    reader rest = {file, file + n};
    uint32_t id = BPE_BYTES;
    for (size_t number = 1; rest.p < rest.end; number++) {
        reader line = take_line(&rest);
        const size_t length = (size_t)(line.end - line.p);
        if (length == 0 || (number == 1 && length >= sizeof version - 1 &&
                            memcmp(line.p, version, sizeof version - 1) == 0)) {
            continue;
        }
        *at = number;
        uint32_t parts[2] = {0, 0};
        if (id < bpe_size(b)) {
            bpe_parts_of(b, id, parts);
        }
        if (id == bpe_size(b) || !take_token(&line, b, parts[0]) || !take(&line, ' ') ||
            !take_token(&line, b, parts[1]) || line.p < line.end) {
            return BPE_OTHER_MERGE;
        }
        id++;
    }
    *at = id;
    return id == bpe_size(b) ? BPE_SOUND : BPE_MERGES_MISSING;
}
