#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "coreml_objects.h"

/* The sizes of each dimension over the complete shapes that are accepted. */
static coreml_status read_shapes(NSArray *shapes, coreml_feature *out) {
    const size_t rank = out->rank;
    out->limits = COREML_ENUMERATED;
    out->n_shapes = [shapes count];
    out->shapes = calloc(out->n_shapes * rank + 1, sizeof *out->shapes);
    if (out->shapes == NULL) {
        return COREML_NO_MEMORY;
    }
    for (size_t i = 0; i < out->n_shapes; i++) {
        ptrdiff_t *const shape = out->shapes + i * rank;
        coreml_read_numbers([shapes objectAtIndex:i], 1, shape);
        for (size_t axis = 0; axis < rank; axis++) {
            out->low[axis] = i ? MIN(out->low[axis], shape[axis]) : shape[axis];
            out->high[axis] = i ? MAX(out->high[axis], shape[axis]) : shape[axis];
        }
    }
    return COREML_OK;
}

/* A range holds length sizes from location on; a very long one has no limit. */
static void read_ranges(NSArray *ranges, coreml_feature *out) {
    out->limits = COREML_RANGES;
    for (size_t axis = 0; axis < out->rank; axis++) {
        const NSRange range = [[ranges objectAtIndex:axis] rangeValue];
        out->low[axis] = (ptrdiff_t)range.location;
        out->high[axis] = range.length >= INT32_MAX
                              ? -1
                              : (ptrdiff_t)(range.location + MAX(range.length, 1u) - 1);
    }
}

static bool share_rank(NSArray *shapes, size_t rank) {
    for (NSUInteger i = 0; i < [shapes count]; i++) {
        if ([[shapes objectAtIndex:i] count] != rank) {
            return false;
        }
    }
    return true;
}

static NSArray *accepted_shapes(MLMultiArrayConstraint *constraint) {
    MLMultiArrayShapeConstraint *const limits = [constraint shapeConstraint];
    if ([limits type] == MLMultiArrayShapeConstraintTypeEnumerated &&
        [[limits enumeratedShapes] count] > 0) {
        return [limits enumeratedShapes];
    }
    NSArray *const shape = [constraint shape];
    return [NSArray arrayWithObject:shape ? shape : [NSArray array]];
}

static coreml_status describe(MLFeatureDescription *feature, coreml_feature *out,
                              coreml_failure *failure) {
    MLMultiArrayConstraint *const constraint = [feature multiArrayConstraint];
    MLMultiArrayShapeConstraint *const limits = [constraint shapeConstraint];
    NSArray *const shapes = accepted_shapes(constraint);
    NSArray *const ranges = [limits type] == MLMultiArrayShapeConstraintTypeRange
                                ? [limits sizeRangeForDimension]
                                : [NSArray array];
    const NSInteger dtype = constraint ? [constraint dataType] : 0;
    const bool ranged = [ranges count] > 0;
    const NSUInteger rank = ranged ? [ranges count] : [[shapes objectAtIndex:0] count];
    if (!coreml_is_dtype(dtype) || rank > COREML_MAX_RANK ||
        !(ranged || share_rank(shapes, rank))) {
        return coreml_fail(failure, @"twinvox", 0,
                           [NSString stringWithFormat:
                                         @"%@ is a feature of type %ld with elements of type %ld "
                                         @"and shapes %@; expected a float32, float16 or int32 "
                                         @"array of at most %d axes",
                                         [feature name], (long)[feature type], (long)dtype, shapes,
                                         COREML_MAX_RANK]);
    }
    out->dtype = (coreml_dtype)dtype;
    out->rank = rank;
    out->name = strdup([[feature name] UTF8String]);
    if (out->name == NULL) {
        return COREML_NO_MEMORY;
    }
    if (ranged) {
        read_ranges(ranges, out);
    } else if (read_shapes(shapes, out)) {
        return COREML_NO_MEMORY;
    }
    if (rank == 0) {
        out->limits = COREML_UNDECLARED;
    } else if (memcmp(out->low, out->high, sizeof out->low) == 0) {
        out->limits = COREML_FIXED;
    }
    return COREML_OK;
}

coreml_status coreml_describe(NSDictionary *features, NSArray **names, coreml_feature **out,
                              coreml_failure *failure) {
    const NSUInteger n = [features count];
    *names = [[[features allKeys] sortedArrayUsingSelector:@selector(compare:)] retain];
    *out = calloc(n + 1, sizeof **out);
    coreml_status status = *out ? COREML_OK : COREML_NO_MEMORY;
    for (NSUInteger i = 0; status == COREML_OK && i < n; i++) {
        NSString *const name = [*names objectAtIndex:i];
        status = describe([features objectForKey:name], &(*out)[i], failure);
    }
    return status;
}

void coreml_forget(coreml_feature *features, size_t n) {
    for (size_t i = 0; features && i < n; i++) {
        free(features[i].name);
        free(features[i].shapes);
    }
    free(features);
}

bool coreml_admits(const coreml_feature *feature, size_t rank, const ptrdiff_t *shape) {
    if (feature->limits == COREML_UNDECLARED) {
        return rank <= COREML_MAX_RANK;
    }
    if (rank != feature->rank) {
        return false;
    }
    if (feature->limits == COREML_ENUMERATED) {
        for (size_t i = 0; i < feature->n_shapes; i++) {
            if (memcmp(feature->shapes + i * rank, shape, rank * sizeof *shape) == 0) {
                return true;
            }
        }
        return false;
    }
    for (size_t axis = 0; axis < rank; axis++) {
        const ptrdiff_t high = feature->high[axis];
        if (shape[axis] < feature->low[axis] || (high >= 0 && shape[axis] > high)) {
            return false;
        }
    }
    return true;
}
