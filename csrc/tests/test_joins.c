#include <string.h>

#include "check.h"
#include "joins.h"

/* A sound in a heap block that has no byte more to spare than joins.h asks for. */
typedef struct {
    uint8_t *block;
    sound form;
} held;

static held hold(const char *text) {
    const size_t n = strlen(text);
    held made = {.block = malloc(JOINS_BEFORE + n + JOINS_AFTER)};
    CHECK(made.block);
    made.form.start = made.block + JOINS_BEFORE;
    made.form.end = made.form.start + n;
    memcpy(made.form.start, text, n);
    return made;
}

static void drop(held *made, const char *expected) {
    const size_t n = (size_t)(made->form.end - made->form.start);
    CHECK(n == strlen(expected) && memcmp(made->form.start, expected, n) == 0);
    free(made->block);
}

static void check_lean(void (*join)(sound *), const char *text, const char *expected) {
    held made = hold(text);
    join(&made.form);
    drop(&made, expected);
}

static void check_glue(const char *text, const char *following, const char *expected,
                       const char *expected_following) {
    held left = hold(text), right = hold(following);
    joins_glue(&left.form, &right.form);
    drop(&left, expected);
    drop(&right, expected_following);
}

static void check_opening(const char *text, opening expected) {
    held made = hold(text);
    CHECK(joins_opening(&made.form) == expected);
    drop(&made, text);
}

static void check_weak(const char *text, bool expected) {
    held made = hold(text);
    CHECK(joins_ends_weak(&made.form) == expected);
    drop(&made, text);
}

int main(void) {
    check_lean(joins_link_r, "wˈɔːɾɚ", "wˈɔːɾɚɹ");
    check_lean(joins_link_r, "fˈɜː", "fˈɜːɹ");
    check_lean(joins_link_r, "kˈɑːɹ", "kˈɑːɹ");
    check_lean(joins_link_r, "", "");
    check_lean(joins_rhotic, "sˈoʊfə", "sˈoʊfɚ");
    check_lean(joins_rhotic, "ə", "ɚ");
    check_lean(joins_rhotic, "aɪdˈiə", "aɪdˈiə");

    check_glue("wˈʌn", "kwˈɔːɹɾɚ", "wˈʌŋ", "kwˈɔːɹɾɚ");
    check_glue("bˈɛɾɚ", "nˈoʊn", "bˈɛtɚ", "nˈoʊn");
    check_glue("twˈɛnɾi", "nˈaɪn", "twˈɛnti", "nˈaɪn");
    check_glue("fˈɑːɹ", "ˈɔf", "fˈɑːɹɹ", "ˈɔf");
    check_glue("bˈæt", "ɐ", "bˈæɾ", "ɐ");
    check_glue("fˈɪst", "ɐ", "fˈɪst", "ɐ");
    check_glue("t", "ə", "t", "ə");
    check_glue("dˈeɪ", "tə", "dˈeɪ", "ɾə");
    check_glue("kˈɑːɹ", "təz", "kˈɑːɹ", "təz");
    check_glue("fˈoːɹ", "təz", "fˈoːɹ", "ɾəz");
    check_glue("lˈɪɾəl", "təz", "lˈɪɾəl", "ɾəz");
    check_glue("lˈɪɾəl", "nˈoʊn", "lˈɪtəl", "nˈoʊn");
    check_glue("ˈæɾuː", "nˈoʊn", "ˈætuː", "nˈoʊn");
    check_glue("dˈeɪ", "tən", "dˈeɪ", "tən");
    check_glue("dˈeɪ", "təkn", "dˈeɪ", "təkn");
    check_glue("dˈeɪ", "tək", "dˈeɪ", "ɾək");
    check_glue("dˈeɪ", "təːn", "dˈeɪ", "ɾəːn");
    check_glue("bˈæt", "ən", "bˈæt", "ən");
    check_glue("bˈæt", "əŋ", "bˈæt", "əŋ");
    check_glue("mˈoːɹ", "ɹˈɛd", "mˈoː", "ɹˈɛd");
    check_glue("pjˈʊɹ", "ˈɔf", "pjˈʊɹɹ", "ˈɔf");
    check_glue("dˈeɪ", "tɹ", "dˈeɪ", "tɹ");
    check_glue("", "t", "", "t");
    check_glue("", "", "", "");

    check_opening("ˈæpəl", OPENS_VOWEL);
    check_opening("ˈˌᵻ", OPENS_VOWEL);
    check_opening("ɹˈɛd", OPENS_R);
    check_opening("bˈɛd", OPENS_OTHER);
    check_opening("ˈ", OPENS_OTHER);
    check_opening("", OPENS_OTHER);

    check_weak("bˈɛd", false);
    check_weak("bˈɛɾɚ", true);
    check_weak("dˈeɪ", false);
    check_weak("sˈʌndeɪ", true);
    check_weak("bˈʌtn̩", true);
    check_weak("ˌaɪ", false);
    check_weak("ʊɪ", true);
    check_weak("fˈaɪɚ", false);
    check_weak("tɹˈaɪəl", false);
    check_weak("pɹaɪə", true);
    check_weak("ˈɔɪə", true);
    check_weak("ɪə", true);
    check_weak("pst", false);
    check_weak("", false);
    return 0;
}
