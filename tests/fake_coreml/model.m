#include <string.h>
#include <unistd.h>

#include "fake_objects.h"

fake_state fake_coreml;

static fake_load load;
static fake_compute compute;

void fake_install(fake_load loads, fake_compute computes) {
    load = loads;
    compute = computes;
}

NSError *fake_error(NSInteger code, NSString *text, NSString *cause) {
    NSMutableDictionary *const info = [NSMutableDictionary dictionary];
    [info setObject:text forKey:NSLocalizedDescriptionKey];
    if (cause) {
        [info setObject:fake_error(0, cause, nil) forKey:NSUnderlyingErrorKey];
    }
    return [NSError errorWithDomain:@"com.apple.CoreML" code:code userInfo:info];
}

/* Whether the framework is to fail here; raises where it is to raise. */
static bool fault(int kind, NSString *where, NSError **error) {
    switch (kind) {
    case FAKE_NO_FAULT:
        return false;
    case FAKE_EXCEPTION:
        [NSException raise:@"NSInternalInconsistencyException" format:@"%@ broke", where];
    case FAKE_THROWN_STRING:
        @throw @"no exception object";
    case FAKE_ERROR:
        *error = fake_error(11, [where stringByAppendingString:@" failed"], @"the plan is gone");
    }
    return true;
}

@implementation MLFeatureValue

+ (id)allocWithZone:(NSZone *)zone {
    return fake_alloc(self, sizeof(MLMultiArray *), zone);
}

+ (instancetype)featureValueWithMultiArray:(MLMultiArray *)array {
    MLFeatureValue *const value = [[[self alloc] init] autorelease];
    *STATE(MLMultiArray *, value) = [array retain];
    return value;
}

- (MLMultiArray *)multiArrayValue {
    return *STATE(MLMultiArray *, self);
}

- (void)dealloc {
    [*STATE(MLMultiArray *, self) release];
    fake_dealloc();
    [super dealloc];
}

@end

@implementation MLDictionaryFeatureProvider

+ (id)allocWithZone:(NSZone *)zone {
    return fake_alloc(self, sizeof(NSDictionary *), zone);
}

- (instancetype)initWithDictionary:(NSDictionary *)dictionary error:(NSError **)error {
    (void)error;
    *STATE(NSDictionary *, self) = [dictionary copy];
    return self;
}

- (NSSet *)featureNames {
    return [NSSet setWithArray:[*STATE(NSDictionary *, self) allKeys]];
}

- (MLFeatureValue *)featureValueForName:(NSString *)name {
    return [*STATE(NSDictionary *, self) objectForKey:name];
}

- (void)dealloc {
    [*STATE(NSDictionary *, self) release];
    fake_dealloc();
    [super dealloc];
}

@end

@implementation MLPredictionOptions

+ (id)allocWithZone:(NSZone *)zone {
    return fake_alloc(self, sizeof(NSDictionary *), zone);
}

- (NSDictionary *)outputBackings {
    return *STATE(NSDictionary *, self);
}

- (void)setOutputBackings:(NSDictionary *)backings {
    [*STATE(NSDictionary *, self) autorelease];
    *STATE(NSDictionary *, self) = [backings copy];
}

- (void)dealloc {
    [*STATE(NSDictionary *, self) release];
    fake_dealloc();
    [super dealloc];
}

@end

@implementation MLModelConfiguration

+ (id)allocWithZone:(NSZone *)zone {
    return fake_alloc(self, sizeof(MLComputeUnits), zone);
}

- (MLComputeUnits)computeUnits {
    return *STATE(MLComputeUnits, self);
}

- (void)setComputeUnits:(MLComputeUnits)units {
    *STATE(MLComputeUnits, self) = units;
}

- (void)dealloc {
    fake_dealloc();
    [super dealloc];
}

@end

void fake_declare(void *sink, int is_output, const char *name, long type, long dtype, size_t rank,
                  const ptrdiff_t *shape, long limit_type, size_t n, const ptrdiff_t *limits) {
    NSMutableArray *const shapes = [NSMutableArray array];
    NSMutableArray *const ranges = [NSMutableArray array];
    for (size_t i = 0; i < n; i++) {
        if (limit_type == MLMultiArrayShapeConstraintTypeEnumerated) {
            [shapes addObject:fake_numbers((size_t)limits[0], limits + 1)];
            limits += 1 + limits[0];
        } else {
            const NSRange range = {(NSUInteger)limits[2 * i], (NSUInteger)limits[2 * i + 1]};
            [ranges addObject:[NSValue valueWithRange:range]];
        }
    }
    MLMultiArrayShapeConstraint *const limit =
        [[[MLMultiArrayShapeConstraint alloc] initWithType:limit_type
                                                    shapes:shapes
                                                    ranges:ranges] autorelease];
    MLMultiArrayConstraint *const constraint =
        [[[MLMultiArrayConstraint alloc] initWithShape:fake_numbers(rank, shape)
                                              dataType:dtype
                                                limits:limit] autorelease];
    MLFeatureDescription *const feature = [[[MLFeatureDescription alloc]
        initWithName:name
                type:type
          constraint:type == MLFeatureTypeMultiArray ? constraint : nil] autorelease];
    [((NSMutableDictionary **)sink)[is_output] setObject:feature forKey:[feature name]];
}

typedef struct {
    NSString *path;
    MLModelDescription *description;
    id<MLFeatureProvider> last;
    unsigned long sum; /* of its arrays */
    int busy;
} model_state;

static unsigned long checksum(id<MLFeatureProvider> input) {
    unsigned long sum = 0;
    for (NSString *name in [input featureNames]) {
        MLMultiArray *const array = [[input featureValueForName:name] multiArrayValue];
        const unsigned char *const bytes = [array dataPointer];
        size_t n = fake_itemsize([array dataType]);
        for (NSNumber *size in [array shape]) {
            n *= [size unsignedLongValue];
        }
        for (size_t i = 0; i < n; i++) {
            sum = 31 * sum + bytes[i];
        }
    }
    return sum;
}

/* Holds the prediction until the tests let it go on, for ten seconds at most. */
static void wait_for_tests(void) {
    enum { TRIES = 10000 };
    int tries = 0;
    while (__atomic_load_n(&fake_coreml.hold, __ATOMIC_SEQ_CST) && tries++ < TRIES) {
        usleep(1000);
    }
    if (tries >= TRIES) {
        fake_coreml.starved++;
    }
}

typedef struct {
    NSDictionary *backings;
    NSMutableDictionary *values;
    NSString *complaint;
} emission;

void fake_emit(void *sink, const char *name, long dtype, size_t rank, const ptrdiff_t *shape,
               const void *data) {
    emission *const out = sink;
    NSString *const key = [NSString stringWithUTF8String:name];
    NSArray *const sizes = fake_numbers(rank, shape);
    const int mode = fake_coreml.backings;
    MLMultiArray *array = [out->backings objectForKey:key];
    if (mode == FAKE_IGNORE_BACKINGS || (mode == FAKE_USE_ONE_BACKING && [out->values count])) {
        array = nil;
    }
    if (array == nil) {
        array = [MLMultiArray arrayWithShape:sizes dataType:dtype data:data];
    } else if ([[array shape] isEqual:sizes]) {
        [array assign:data];
    } else {
        out->complaint = [NSString stringWithFormat:@"the backing of %@ has another shape", key];
    }
    [out->values setObject:[MLFeatureValue featureValueWithMultiArray:array] forKey:key];
}

@implementation MLModel

+ (id)allocWithZone:(NSZone *)zone {
    return fake_alloc(self, sizeof(model_state), zone);
}

+ (NSURL *)compileModelAtURL:(NSURL *)url error:(NSError **)error {
    NSFileManager *const files = [NSFileManager defaultManager];
    NSString *const name = [[[url path] lastPathComponent] stringByDeletingPathExtension];
    NSString *const folder = [NSTemporaryDirectory()
        stringByAppendingPathComponent:[NSString stringWithFormat:@"%@_%@.mlmodelc", name,
                                                                  [[NSUUID UUID] UUIDString]]];
    if (fault(fake_coreml.compile_fault, @"compiling", error)) {
        return nil;
    }
    __atomic_fetch_add(&fake_coreml.compilations, 1, __ATOMIC_SEQ_CST);
    if (![files createDirectoryAtPath:folder
            withIntermediateDirectories:YES
                             attributes:nil
                                  error:error] ||
        ![files copyItemAtPath:[url path]
                        toPath:[folder stringByAppendingPathComponent:@"package.mlpackage"]
                         error:error]) {
        return nil;
    }
    [@"compiled" writeToFile:[folder stringByAppendingPathComponent:@"coremldata.bin"]
                  atomically:NO];
    return [NSURL fileURLWithPath:folder];
}

+ (instancetype)modelWithContentsOfURL:(NSURL *)url
                         configuration:(MLModelConfiguration *)configuration
                                 error:(NSError **)error {
    if (fault(fake_coreml.load_fault, @"loading", error)) {
        return nil;
    }
    NSMutableDictionary *sink[2] = {[NSMutableDictionary dictionary],
                                    [NSMutableDictionary dictionary]};
    if (load([[url path] fileSystemRepresentation], sink)) {
        *error = fake_error(3, [NSString stringWithFormat:@"%@ is no model", [url path]], nil);
        return nil;
    }
    fake_coreml.compute_units = (int)[configuration computeUnits];
    MLModel *const model = [[[self alloc] init] autorelease];
    STATE(model_state, model)->path = [[url path] copy];
    STATE(model_state, model)->description =
        [[MLModelDescription alloc] initWithInputs:sink[0] outputs:sink[1]];
    return model;
}

- (MLModelDescription *)modelDescription {
    return STATE(model_state, self)->description;
}

- (bool)accept:(id<MLFeatureProvider>)input
      backings:(NSDictionary *)backings
         error:(NSError **)error {
    MLModelDescription *const description = [self modelDescription];
    for (MLFeatureDescription *feature in [[description inputDescriptionsByName] allValues]) {
        MLMultiArray *const array =
            [[input featureValueForName:[feature name]] multiArrayValue];
        NSString *const complaint = [feature complaintAbout:array];
        if (complaint) {
            *error = fake_error(
                1, [NSString stringWithFormat:@"input %@ is not as declared", [feature name]],
                complaint);
            return false;
        }
    }
    for (NSString *name in backings) {
        MLFeatureDescription *const feature =
            [[description outputDescriptionsByName] objectForKey:name];
        NSString *const complaint = [feature complaintAbout:[backings objectForKey:name]];
        if (feature) {
            fake_coreml.offers++;
        }
        if (fake_coreml.backings == FAKE_RAISE_FOR_BACKINGS) {
            [NSException raise:@"NSGenericException" format:@"no memory object bound to port"];
        }
        if (complaint || fake_coreml.backings == FAKE_REJECT_BACKINGS) {
            *error = fake_error(4, @"the output backings cannot be used", complaint);
            return false;
        }
    }
    return true;
}

/* A real engine keeps its inputs for a while. */
- (void)readLate:(id<MLFeatureProvider>)input {
    model_state *const state = STATE(model_state, self);
    if (state->last && checksum(state->last) != state->sum) {
        fake_coreml.changed++;
    }
    [(id)state->last release];
    state->last = [(id)input retain];
    state->sum = checksum(input);
}

- (id<MLFeatureProvider>)predict:(id<MLFeatureProvider>)input
                        backings:(NSDictionary *)backings
                           error:(NSError **)error {
    __atomic_fetch_add(&fake_coreml.predictions, 1, __ATOMIC_SEQ_CST);
    wait_for_tests();
    if (fault(fake_coreml.predict_fault, @"the prediction", error) ||
        ![self accept:input backings:backings error:error]) {
        return nil;
    }
    if (fake_coreml.late_reads) {
        [self readLate:input];
    }
    NSArray *const names = [[input featureNames] allObjects];
    fake_tensor tensors[[names count] + 1];
    for (NSUInteger i = 0; i < [names count]; i++) {
        tensors[i].name = [[names objectAtIndex:i] UTF8String];
        [[[input featureValueForName:[names objectAtIndex:i]] multiArrayValue]
            describe:&tensors[i]];
    }
    emission out = {backings, [NSMutableDictionary dictionary], nil};
    const char *const path = [STATE(model_state, self)->path fileSystemRepresentation];
    if (compute(path, tensors, [names count], &out) || out.complaint) {
        *error = fake_error(5, @"the computation failed", out.complaint);
        return nil;
    }
    if (fake_coreml.omit_output) {
        [out.values removeObjectForKey:[[out.values allKeys] objectAtIndex:0]];
    }
    return [[[MLDictionaryFeatureProvider alloc] initWithDictionary:out.values
                                                              error:error] autorelease];
}

- (id<MLFeatureProvider>)predictionFromFeatures:(id<MLFeatureProvider>)input
                                        options:(MLPredictionOptions *)options
                                          error:(NSError **)error {
    model_state *const state = STATE(model_state, self);
    if (__atomic_fetch_add(&state->busy, 1, __ATOMIC_SEQ_CST) != 0) {
        __atomic_fetch_add(&fake_coreml.overlaps, 1, __ATOMIC_SEQ_CST);
    }
    @try {
        return [self predict:input backings:[options outputBackings] error:error];
    } @finally {
        __atomic_fetch_sub(&state->busy, 1, __ATOMIC_SEQ_CST);
    }
}

- (void)dealloc {
    model_state *const state = STATE(model_state, self);
    if (__atomic_load_n(&state->busy, __ATOMIC_SEQ_CST) != 0) {
        __atomic_fetch_add(&fake_coreml.overlaps, 1, __ATOMIC_SEQ_CST);
    }
    [state->path release];
    [state->description release];
    [(id)state->last release];
    fake_dealloc();
    [super dealloc];
}

@end
