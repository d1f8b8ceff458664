/* What the files of the fake share. An object keeps its state behind its instance: Apple's
 * interfaces have no room for it, and this runtime takes no other. */
#import <CoreML/CoreML.h>
#import <objc/runtime.h>

#include "fake.h"

#define STATE(type, object) ((type *)object_getIndexedIvars(object))

id fake_alloc(Class class, size_t extra, NSZone *zone);
void fake_dealloc(void);
size_t fake_itemsize(long dtype);
NSError *fake_error(NSInteger code, NSString *text, NSString *cause);
NSArray *fake_numbers(size_t n, const ptrdiff_t *values);

@interface MLMultiArray (Fake)
/* An array of the fake's own, laid out as the state says, with the values. */
+ (MLMultiArray *)arrayWithShape:(NSArray *)shape dataType:(long)dataType data:(const void *)data;
- (void)describe:(fake_tensor *)tensor;
- (void)assign:(const void *)data;
@end

@interface MLFeatureDescription (Fake)
- (instancetype)initWithName:(const char *)name
                        type:(long)type
                  constraint:(MLMultiArrayConstraint *)constraint;
- (NSString *)complaintAbout:(MLMultiArray *)array;
@end

@interface MLMultiArrayConstraint (Fake)
- (instancetype)initWithShape:(NSArray *)shape
                     dataType:(long)dataType
                       limits:(MLMultiArrayShapeConstraint *)limits;
@end

@interface MLMultiArrayShapeConstraint (Fake)
- (instancetype)initWithType:(long)type shapes:(NSArray *)shapes ranges:(NSArray *)ranges;
@end

@interface MLModelDescription (Fake)
- (instancetype)initWithInputs:(NSDictionary *)inputs outputs:(NSDictionary *)outputs;
@end
