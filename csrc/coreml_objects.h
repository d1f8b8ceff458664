/* What the Objective-C files behind coreml.h share. */
#ifndef TWINVOX_COREML_OBJECTS_H
#define TWINVOX_COREML_OBJECTS_H

#import <CoreML/CoreML.h>
#include <pthread.h>

#include "coreml.h"

struct coreml_model {
    pthread_mutex_t lock; /* an MLModel is for one thread at a time */
    MLModel *model;       /* nil once closed */
    NSArray *input_names;
    NSArray *output_names;
    coreml_feature *inputs;
    coreml_feature *outputs;
};

/* Each fills in the failure and returns COREML_FAILED; thrown is nil for what is no NSException. */
coreml_status coreml_fail(coreml_failure *failure, NSString *domain, long code, NSString *text);
coreml_status coreml_failed(coreml_failure *failure, NSError *error);
coreml_status coreml_raised(coreml_failure *failure, NSException *thrown);

/* Describes every feature, in order of the names, which are retained for the caller. */
coreml_status coreml_describe(NSDictionary *features, NSArray **names, coreml_feature **out,
                              coreml_failure *failure);
void coreml_forget(coreml_feature *features, size_t n);

bool coreml_is_dtype(NSInteger value);

/* Each of at most COREML_MAX_RANK numbers times unit. */
void coreml_read_numbers(NSArray *numbers, ptrdiff_t unit, ptrdiff_t *out);

#endif
