#include <stdlib.h>
#include <string.h>

#include "fake_objects.h"

static long live;

id fake_alloc(Class class, size_t extra, NSZone *zone) {
    __atomic_fetch_add(&live, 1, __ATOMIC_SEQ_CST);
    return NSAllocateObject(class, extra, zone);
}

void fake_dealloc(void) {
    __atomic_fetch_sub(&live, 1, __ATOMIC_SEQ_CST);
}

long fake_live(void) {
    return __atomic_load_n(&live, __ATOMIC_SEQ_CST);
}

size_t fake_itemsize(long dtype) {
    return (size_t)(dtype & 0xff) / 8;
}

NSArray *fake_numbers(size_t n, const ptrdiff_t *values) {
    NSMutableArray *const numbers = [NSMutableArray array];
    for (size_t i = 0; i < n; i++) {
        [numbers addObject:[NSNumber numberWithInteger:values[i]]];
    }
    return numbers;
}

typedef struct {
    NSArray *shape;
    NSArray *strides;
    long dtype;
    void *data;
    void *moved; /* where the values go when the data pointer is asked for, NULL: they stay */
    bool owned;
} array_state;

/* Strides in elements for the layout; how many elements they span. */
static size_t lay_out(size_t rank, const ptrdiff_t *shape, size_t itemsize, int layout,
                      ptrdiff_t *strides) {
    const size_t row = 64 / itemsize; /* rows begin at multiples of 64 bytes */
    ptrdiff_t extent = 1;
    for (size_t i = 0; i < rank; i++) {
        const size_t axis = layout == FAKE_REVERSED ? i : rank - 1 - i;
        strides[axis] = extent;
        extent *= shape[axis];
        if ((layout == FAKE_PADDED || layout == FAKE_MOVING) && i == 0 && rank > 1) {
            extent = (ptrdiff_t)(((size_t)extent + row - 1) / row * row);
        }
    }
    return (size_t)extent;
}

/* Spreads C-contiguous values over the array, from this axis on; the value after the last. */
static const char *spread(const fake_tensor *array, size_t axis, char *at, const char *values) {
    const size_t itemsize = fake_itemsize(array->dtype);
    if (axis == array->rank) {
        memcpy(at, values, itemsize);
        return values + itemsize;
    }
    for (ptrdiff_t i = 0; i < array->shape[axis]; i++) {
        values = spread(array, axis + 1, at + i * array->strides[axis], values);
    }
    return values;
}

@implementation MLMultiArray

+ (id)allocWithZone:(NSZone *)zone {
    return fake_alloc(self, sizeof(array_state), zone);
}

- (instancetype)initWithLayout:(int)layout shape:(NSArray *)shape dataType:(long)dataType {
    ptrdiff_t sizes[FAKE_MAX_RANK];
    ptrdiff_t strides[FAKE_MAX_RANK];
    array_state *const state = STATE(array_state, self);
    for (NSUInteger i = 0; i < [shape count]; i++) {
        sizes[i] = [[shape objectAtIndex:i] integerValue];
    }
    const size_t itemsize = fake_itemsize(dataType);
    const size_t n = lay_out([shape count], sizes, itemsize, layout, strides);
    state->shape = [shape copy];
    state->strides = [fake_numbers([shape count], strides) retain];
    state->dtype = dataType;
    state->owned = true;
    state->data = aligned_alloc(64, (n * itemsize + 64) / 64 * 64);
    memset(state->data, 0xa5, n * itemsize);
    return self;
}

- (instancetype)initWithShape:(NSArray *)shape
                     dataType:(MLMultiArrayDataType)dataType
                        error:(NSError **)error {
    if ([shape count] == 0) {
        [self release];
        *error = fake_error(3, @"an array needs a dimension", nil);
        return nil;
    }
    return [self initWithLayout:FAKE_CONTIGUOUS shape:shape dataType:dataType];
}

- (instancetype)initWithDataPointer:(void *)dataPointer
                              shape:(NSArray *)shape
                           dataType:(MLMultiArrayDataType)dataType
                            strides:(NSArray *)strides
                        deallocator:(MLMultiArrayDeallocator)deallocator
                              error:(NSError **)error {
    if ([shape count] == 0 || [shape count] != [strides count] || deallocator != NULL) {
        [self release];
        *error = fake_error(3, @"an array needs a dimension", nil);
        return nil;
    }
    array_state *const state = STATE(array_state, self);
    state->shape = [shape copy];
    state->strides = [strides copy];
    state->dtype = dataType;
    state->data = dataPointer;
    return self;
}

+ (MLMultiArray *)arrayWithShape:(NSArray *)shape dataType:(long)dataType data:(const void *)data {
    MLMultiArray *const array = [[self alloc] initWithLayout:fake_coreml.layout
                                                       shape:shape
                                                    dataType:dataType];
    [array assign:data];
    if (fake_coreml.layout == FAKE_MOVING) {
        array_state *const state = STATE(array_state, array);
        size_t n = fake_itemsize(dataType);
        for (NSNumber *size in shape) {
            n *= (size_t)[size integerValue];
        }
        state->moved = memcpy(malloc(n), data, n);
    }
    return [array autorelease];
}

- (void)describe:(fake_tensor *)tensor {
    array_state *const state = STATE(array_state, self);
    tensor->dtype = state->dtype;
    tensor->rank = [state->shape count];
    tensor->data = state->data;
    for (NSUInteger i = 0; i < tensor->rank; i++) {
        tensor->shape[i] = [[state->shape objectAtIndex:i] integerValue];
        tensor->strides[i] = [[state->strides objectAtIndex:i] integerValue] *
                             (ptrdiff_t)fake_itemsize(state->dtype);
    }
}

- (void)assign:(const void *)data {
    fake_tensor tensor;
    [self describe:&tensor];
    spread(&tensor, 0, tensor.data, data);
}

/* As Apple says of getMutableBytesWithHandler: the memory and the strides may be others then. */
- (void *)dataPointer {
    array_state *const state = STATE(array_state, self);
    if (state->moved) {
        fake_tensor tensor;
        [self describe:&tensor];
        lay_out(tensor.rank, tensor.shape, 1, FAKE_CONTIGUOUS, tensor.strides);
        [state->strides release];
        state->strides = [fake_numbers(tensor.rank, tensor.strides) retain];
        free(state->data);
        state->data = state->moved;
        state->moved = NULL;
    }
    return state->data;
}

- (MLMultiArrayDataType)dataType {
    return STATE(array_state, self)->dtype;
}

- (NSArray *)shape {
    return STATE(array_state, self)->shape;
}

- (NSArray *)strides {
    return STATE(array_state, self)->strides;
}

- (void)dealloc {
    array_state *const state = STATE(array_state, self);
    [state->shape release];
    [state->strides release];
    if (state->owned) {
        free(state->data);
        free(state->moved);
    }
    fake_dealloc();
    [super dealloc];
}

@end
