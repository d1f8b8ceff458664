#include <Accelerate/Accelerate.h>

#include "check.h"
#include "fake_accelerate.h"
#include "fft.h"
#include "mel.h"

/* Nobody asks Accelerate for these, which may come to have them. */
static void check_refusals(void) {
    static const size_t refused[] = {15, 24, 40, 100, 720, 1000, 1025};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        CHECK(vDSP_DFT_zrop_CreateSetupD(NULL, refused[i], vDSP_DFT_FORWARD) == NULL);
    }
}

int main(void) {
    check_refusals();
    const mel_params params = {.sample_rate = 24000.0,
                               .n_fft = 1024,
                               .hop_length = 256,
                               .n_mels = 100,
                               .log_floor = 1e-7f};
    fft_plan *fft = NULL;
    mel_plan *mel = NULL;
    fake_accelerate_has_memory = false;
    CHECK(fft_plan_create(1024, &fft) == STATUS_NO_MEMORY && fft == NULL);
    CHECK(mel_plan_create(&params, &mel) == STATUS_NO_MEMORY && mel == NULL);
    CHECK(fft_plan_create(1000, &fft) == STATUS_BAD_ARGUMENT && fft == NULL);
    fake_accelerate_has_memory = true;
    CHECK(mel_plan_create(&params, &mel) == STATUS_OK);
    mel_plan_destroy(mel);
    return 0;
}
