#include <stdint.h>
#include <stdlib.h>

#include "coreml_objects.h"

struct coreml_binding {
    coreml_model *model;
    MLDictionaryFeatureProvider *inputs;
    MLPredictionOptions *plain;
    MLPredictionOptions *offering; /* with the outputs as backings; nil: none, or refused */
    NSArray *backings;             /* in the outputs' order; nil: none */
    bool refused;
    coreml_failure refusal;
};

static NSArray *as_numbers(size_t n, const ptrdiff_t *values, ptrdiff_t unit) {
    NSNumber *objects[COREML_MAX_RANK];
    for (size_t i = 0; i < n; i++) {
        objects[i] = [NSNumber numberWithInteger:values[i] / unit];
    }
    return [NSArray arrayWithObjects:objects count:n];
}

void coreml_read_numbers(NSArray *numbers, ptrdiff_t unit, ptrdiff_t *out) {
    for (NSUInteger i = 0; i < [numbers count]; i++) {
        out[i] = [[numbers objectAtIndex:i] integerValue] * unit;
    }
}

bool coreml_is_dtype(NSInteger value) {
    return value == COREML_FLOAT16 || value == COREML_FLOAT32 || value == COREML_INT32;
}

size_t coreml_itemsize(coreml_dtype dtype) {
    return dtype == COREML_FLOAT16 ? 2 : 4;
}

/* Whether rows, which may be padded, follow each other; axes of one get the stride that fits. */
static bool lie_in_order(coreml_array *array) {
    const ptrdiff_t itemsize = (ptrdiff_t)coreml_itemsize(array->dtype);
    ptrdiff_t extent = itemsize;
    for (size_t axis = array->rank; axis-- > 0;) {
        if (array->shape[axis] == 1) {
            array->strides[axis] = extent;
        }
        if (array->strides[axis] < extent || array->strides[axis] % itemsize != 0) {
            return false;
        }
        extent = array->strides[axis] * array->shape[axis];
    }
    return (uintptr_t)array->data % (uintptr_t)itemsize == 0;
}

static coreml_status wrap(coreml_array *array, coreml_failure *failure) {
    NSError *error = nil;
    const ptrdiff_t itemsize = (ptrdiff_t)coreml_itemsize(array->dtype);
    array->object = [[MLMultiArray alloc]
        initWithDataPointer:array->data
                      shape:as_numbers(array->rank, array->shape, 1)
                   dataType:(MLMultiArrayDataType)array->dtype
                    strides:as_numbers(array->rank, array->strides, itemsize)
                deallocator:nil
                      error:&error];
    return array->object ? COREML_OK : coreml_failed(failure, error);
}

coreml_status coreml_array_wrap(coreml_array *array, coreml_failure *failure) {
    if (!lie_in_order(array)) {
        return COREML_BAD_LAYOUT;
    }
    @autoreleasepool {
        @try {
            return wrap(array, failure);
        } @catch (NSException *thrown) {
            return coreml_raised(failure, thrown);
        } @catch (...) {
            return coreml_raised(failure, nil);
        }
    }
}

/* Takes over what the object, which is not retained, says of itself. */
static coreml_status read_array(MLMultiArray *object, coreml_array *out, coreml_failure *failure) {
    const NSUInteger rank = [[object shape] count];
    if (!coreml_is_dtype([object dataType]) || rank > COREML_MAX_RANK) {
        NSString *const text = [NSString
            stringWithFormat:@"an array of element type %ld and shape %@ came back; expected "
                             @"float32, float16 or int32 and at most %d axes",
                             (long)[object dataType], [object shape], COREML_MAX_RANK];
        return coreml_fail(failure, @"twinvox", 0, text);
    }
    out->dtype = (coreml_dtype)[object dataType];
    out->rank = rank;
    out->data = [object dataPointer]; /* before the strides: it may move the array */
    coreml_read_numbers([object shape], 1, out->shape);
    coreml_read_numbers([object strides], (ptrdiff_t)coreml_itemsize(out->dtype), out->strides);
    out->object = object;
    return COREML_OK;
}

static coreml_status create(coreml_array *array, coreml_failure *failure) {
    NSError *error = nil;
    MLMultiArray *const object = [[[MLMultiArray alloc]
        initWithShape:as_numbers(array->rank, array->shape, 1)
             dataType:(MLMultiArrayDataType)array->dtype
                error:&error] autorelease];
    if (object == nil) {
        return coreml_failed(failure, error);
    }
    const coreml_status status = read_array(object, array, failure);
    array->object = status ? NULL : [object retain];
    return status;
}

coreml_status coreml_array_create(coreml_array *array, coreml_failure *failure) {
    @autoreleasepool {
        @try {
            return create(array, failure);
        } @catch (NSException *thrown) {
            return coreml_raised(failure, thrown);
        } @catch (...) {
            return coreml_raised(failure, nil);
        }
    }
}

void coreml_array_release(coreml_array *array) {
    @autoreleasepool {
        [(MLMultiArray *)array->object release];
        array->object = NULL;
    }
}

static coreml_status bind_inputs(coreml_binding *binding, coreml_array *const *inputs,
                                 coreml_failure *failure) {
    NSArray *const names = binding->model->input_names;
    NSMutableDictionary *const values = [NSMutableDictionary dictionary];
    for (NSUInteger i = 0; i < [names count]; i++) {
        [values setObject:[MLFeatureValue featureValueWithMultiArray:inputs[i]->object]
                   forKey:[names objectAtIndex:i]];
    }
    NSError *error = nil;
    binding->inputs = [[MLDictionaryFeatureProvider alloc] initWithDictionary:values error:&error];
    return binding->inputs ? COREML_OK : coreml_failed(failure, error);
}

static void bind_outputs(coreml_binding *binding, coreml_array *const *outputs) {
    NSArray *const names = binding->model->output_names;
    NSMutableArray *const backings = [[NSMutableArray alloc] init];
    binding->backings = backings;
    for (NSUInteger i = 0; i < [names count]; i++) {
        [backings addObject:(id)outputs[i]->object];
    }
    binding->offering = [[MLPredictionOptions alloc] init];
    [binding->offering setOutputBackings:[NSDictionary dictionaryWithObjects:backings
                                                                     forKeys:names]];
}

static coreml_status prepare(coreml_binding *binding, coreml_array *const *inputs,
                          coreml_array *const *outputs, coreml_failure *failure) {
    binding->plain = [[MLPredictionOptions alloc] init];
    if (outputs) {
        bind_outputs(binding, outputs);
    }
    return bind_inputs(binding, inputs, failure);
}

coreml_status coreml_bind(coreml_model *model, coreml_array *const *inputs,
                          coreml_array *const *outputs, coreml_binding **out,
                          coreml_failure *failure) {
    coreml_status status;
    coreml_binding *const binding = calloc(1, sizeof *binding);
    *out = NULL;
    if (binding == NULL) {
        return COREML_NO_MEMORY;
    }
    binding->model = model;
    @autoreleasepool {
        @try {
            status = prepare(binding, inputs, outputs, failure);
        } @catch (NSException *thrown) {
            status = coreml_raised(failure, thrown);
        } @catch (...) {
            status = coreml_raised(failure, nil);
        }
    }
    if (status) {
        coreml_unbind(binding);
        return status;
    }
    *out = binding;
    return COREML_OK;
}

void coreml_unbind(coreml_binding *binding) {
    if (binding == NULL) {
        return;
    }
    @autoreleasepool {
        [binding->inputs release];
        [binding->plain release];
        [binding->offering release];
        [binding->backings release];
    }
    free(binding);
}

/* The outputs written where the backings allow it, nil with the failure where they do not: that too
 * may be an exception. */
static id<MLFeatureProvider> offer(coreml_binding *binding, coreml_failure *refusal) {
    NSError *error = nil;
    @try {
        id<MLFeatureProvider> const found =
            [binding->model->model predictionFromFeatures:binding->inputs
                                                  options:binding->offering
                                                    error:&error];
        if (found) {
            return found;
        }
        coreml_failed(refusal, error);
    } @catch (NSException *thrown) {
        coreml_raised(refusal, thrown);
    } @catch (...) {
        coreml_raised(refusal, nil);
    }
    return nil;
}

/* The outputs of one prediction, nil with the error where there are none. */
static id<MLFeatureProvider> ask(coreml_binding *binding, NSError **error) {
    coreml_failure refusal;
    const bool offering = binding->offering != nil;
    id<MLFeatureProvider> found = offering ? offer(binding, &refusal) : nil;
    if (found) {
        return found;
    }
    found = [binding->model->model predictionFromFeatures:binding->inputs
                                                  options:binding->plain
                                                    error:error];
    if (offering && found) {
        binding->refusal = refusal;
        binding->refused = true;
        [binding->offering release];
        binding->offering = nil;
    }
    return found;
}

static coreml_status predict(coreml_binding *binding, coreml_array *results,
                             coreml_failure *failure) {
    NSArray *const names = binding->model->output_names;
    NSError *error = nil;
    id<MLFeatureProvider> const found = ask(binding, &error);
    if (found == nil) {
        return coreml_failed(failure, error);
    }
    for (NSUInteger i = 0; i < [names count]; i++) {
        NSString *const name = [names objectAtIndex:i];
        MLMultiArray *const array = [[found featureValueForName:name] multiArrayValue];
        if (array == nil) {
            return coreml_fail(failure, @"twinvox", 0,
                               [NSString stringWithFormat:@"no array came back for %@", name]);
        }
        results[i].object = NULL;
        if (array == [binding->backings objectAtIndex:i]) {
            continue;
        }
        const coreml_status status = read_array(array, &results[i], failure);
        if (status) {
            return status;
        }
    }
    for (NSUInteger i = 0; i < [names count]; i++) {
        [(MLMultiArray *)results[i].object retain];
    }
    return COREML_OK;
}

coreml_status coreml_predict(coreml_binding *binding, coreml_array *results,
                             coreml_failure *failure) {
    coreml_status status;
    pthread_mutex_lock(&binding->model->lock);
    @autoreleasepool {
        @try {
            status = binding->model->model ? predict(binding, results, failure) : COREML_CLOSED;
        } @catch (NSException *thrown) {
            status = coreml_raised(failure, thrown);
        } @catch (...) {
            status = coreml_raised(failure, nil);
        }
    }
    pthread_mutex_unlock(&binding->model->lock);
    return status;
}

const coreml_failure *coreml_refusal(const coreml_binding *binding) {
    return binding->refused ? &binding->refusal : NULL;
}
