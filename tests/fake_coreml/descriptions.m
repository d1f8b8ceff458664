#include "fake_objects.h"

typedef struct {
    MLMultiArrayShapeConstraintType type;
    NSArray *shapes;
    NSArray *ranges;
} limits_state;

@implementation MLMultiArrayShapeConstraint

+ (id)allocWithZone:(NSZone *)zone {
    return fake_alloc(self, sizeof(limits_state), zone);
}

- (instancetype)initWithType:(long)type shapes:(NSArray *)shapes ranges:(NSArray *)ranges {
    limits_state *const state = STATE(limits_state, self);
    state->type = type;
    state->shapes = [shapes copy];
    state->ranges = [ranges copy];
    return self;
}

- (MLMultiArrayShapeConstraintType)type {
    return STATE(limits_state, self)->type;
}

- (NSArray *)enumeratedShapes {
    return STATE(limits_state, self)->shapes;
}

- (NSArray *)sizeRangeForDimension {
    return STATE(limits_state, self)->ranges;
}

- (void)dealloc {
    [STATE(limits_state, self)->shapes release];
    [STATE(limits_state, self)->ranges release];
    fake_dealloc();
    [super dealloc];
}

@end

typedef struct {
    NSArray *shape;
    MLMultiArrayDataType dtype;
    MLMultiArrayShapeConstraint *limits;
} constraint_state;

@implementation MLMultiArrayConstraint

+ (id)allocWithZone:(NSZone *)zone {
    return fake_alloc(self, sizeof(constraint_state), zone);
}

- (instancetype)initWithShape:(NSArray *)shape
                     dataType:(long)dataType
                       limits:(MLMultiArrayShapeConstraint *)limits {
    constraint_state *const state = STATE(constraint_state, self);
    state->shape = [shape copy];
    state->dtype = dataType;
    state->limits = [limits retain];
    return self;
}

- (NSArray *)shape {
    return STATE(constraint_state, self)->shape;
}

- (MLMultiArrayDataType)dataType {
    return STATE(constraint_state, self)->dtype;
}

- (MLMultiArrayShapeConstraint *)shapeConstraint {
    return STATE(constraint_state, self)->limits;
}

- (void)dealloc {
    [STATE(constraint_state, self)->shape release];
    [STATE(constraint_state, self)->limits release];
    fake_dealloc();
    [super dealloc];
}

@end

typedef struct {
    NSString *name;
    MLFeatureType type;
    MLMultiArrayConstraint *constraint;
} description_state;

static bool within(NSArray *shape, NSArray *ranges) {
    if ([shape count] != [ranges count]) {
        return false;
    }
    for (NSUInteger i = 0; i < [shape count]; i++) {
        const NSUInteger size = (NSUInteger)[[shape objectAtIndex:i] integerValue];
        if (!NSLocationInRange(size, [[ranges objectAtIndex:i] rangeValue])) {
            return false;
        }
    }
    return true;
}

@implementation MLFeatureDescription

+ (id)allocWithZone:(NSZone *)zone {
    return fake_alloc(self, sizeof(description_state), zone);
}

- (instancetype)initWithName:(const char *)name
                        type:(long)type
                  constraint:(MLMultiArrayConstraint *)constraint {
    description_state *const state = STATE(description_state, self);
    state->name = [[NSString alloc] initWithUTF8String:name];
    state->type = type;
    state->constraint = [constraint retain];
    return self;
}

- (NSString *)name {
    return STATE(description_state, self)->name;
}

- (MLFeatureType)type {
    return STATE(description_state, self)->type;
}

- (MLMultiArrayConstraint *)multiArrayConstraint {
    return STATE(description_state, self)->constraint;
}

- (NSString *)complaintAbout:(MLMultiArray *)array {
    MLMultiArrayConstraint *const constraint = [self multiArrayConstraint];
    MLMultiArrayShapeConstraint *const limits = [constraint shapeConstraint];
    if (array == nil) {
        return @"no array";
    }
    if ([array dataType] != [constraint dataType]) {
        return @"another data type";
    }
    const bool fits =
        [limits type] == MLMultiArrayShapeConstraintTypeEnumerated
            ? [[limits enumeratedShapes] containsObject:[array shape]]
        : [limits type] == MLMultiArrayShapeConstraintTypeRange
            ? within([array shape], [limits sizeRangeForDimension])
            : [[constraint shape] count] == 0 || [[constraint shape] isEqual:[array shape]];
    return fits ? nil : @"another shape";
}

- (void)dealloc {
    [STATE(description_state, self)->name release];
    [STATE(description_state, self)->constraint release];
    fake_dealloc();
    [super dealloc];
}

@end

typedef struct {
    NSDictionary *inputs;
    NSDictionary *outputs;
} model_description_state;

@implementation MLModelDescription

+ (id)allocWithZone:(NSZone *)zone {
    return fake_alloc(self, sizeof(model_description_state), zone);
}

- (instancetype)initWithInputs:(NSDictionary *)inputs outputs:(NSDictionary *)outputs {
    STATE(model_description_state, self)->inputs = [inputs copy];
    STATE(model_description_state, self)->outputs = [outputs copy];
    return self;
}

- (NSDictionary *)inputDescriptionsByName {
    return STATE(model_description_state, self)->inputs;
}

- (NSDictionary *)outputDescriptionsByName {
    return STATE(model_description_state, self)->outputs;
}

- (void)dealloc {
    [STATE(model_description_state, self)->inputs release];
    [STATE(model_description_state, self)->outputs release];
    fake_dealloc();
    [super dealloc];
}

@end
