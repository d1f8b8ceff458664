/* The part of Core ML that the bridge uses, as Apple's public reference describes it. Nothing of
 * this folder is on the include path where the real framework is. */
#ifndef COREML_COREML_H
#define COREML_COREML_H

#import <Foundation/Foundation.h>

#if __has_feature(blocks)
typedef void (^MLMultiArrayDeallocator)(void *bytes);
#else /* nil can be passed without them */
typedef void *MLMultiArrayDeallocator;
#endif

typedef NS_ENUM(NSInteger, MLMultiArrayDataType) {
    MLMultiArrayDataTypeFloat64 = 0x10000 | 64,
    MLMultiArrayDataTypeFloat32 = 0x10000 | 32,
    MLMultiArrayDataTypeFloat16 = 0x10000 | 16,
    MLMultiArrayDataTypeInt32 = 0x20000 | 32,
};

typedef NS_ENUM(NSInteger, MLFeatureType) {
    MLFeatureTypeInvalid = 0,
    MLFeatureTypeInt64 = 1,
    MLFeatureTypeDouble = 2,
    MLFeatureTypeString = 3,
    MLFeatureTypeImage = 4,
    MLFeatureTypeMultiArray = 5,
};

typedef NS_ENUM(NSInteger, MLMultiArrayShapeConstraintType) {
    MLMultiArrayShapeConstraintTypeUnspecified = 1,
    MLMultiArrayShapeConstraintTypeEnumerated = 2,
    MLMultiArrayShapeConstraintTypeRange = 3,
};

typedef NS_ENUM(NSInteger, MLComputeUnits) {
    MLComputeUnitsCPUOnly = 0,
    MLComputeUnitsCPUAndGPU = 1,
    MLComputeUnitsAll = 2,
    MLComputeUnitsCPUAndNeuralEngine = 3,
};

@interface MLMultiArray : NSObject
@property(readonly, nonatomic) void *dataPointer;
@property(readonly, nonatomic) MLMultiArrayDataType dataType;
@property(readonly, nonatomic) NSArray *shape;
@property(readonly, nonatomic) NSArray *strides;
- (instancetype)initWithShape:(NSArray *)shape
                     dataType:(MLMultiArrayDataType)dataType
                        error:(NSError **)error;
- (instancetype)initWithDataPointer:(void *)dataPointer
                              shape:(NSArray *)shape
                           dataType:(MLMultiArrayDataType)dataType
                            strides:(NSArray *)strides
                        deallocator:(MLMultiArrayDeallocator)deallocator
                              error:(NSError **)error;
@end

@interface MLMultiArrayShapeConstraint : NSObject
@property(readonly, nonatomic) MLMultiArrayShapeConstraintType type;
@property(readonly, nonatomic) NSArray *sizeRangeForDimension;
@property(readonly, nonatomic) NSArray *enumeratedShapes;
@end

@interface MLMultiArrayConstraint : NSObject
@property(readonly, nonatomic) NSArray *shape;
@property(readonly, nonatomic) MLMultiArrayDataType dataType;
@property(readonly, nonatomic) MLMultiArrayShapeConstraint *shapeConstraint;
@end

@interface MLFeatureDescription : NSObject
@property(readonly, nonatomic, copy) NSString *name;
@property(readonly, nonatomic) MLFeatureType type;
@property(readonly, nonatomic) MLMultiArrayConstraint *multiArrayConstraint;
@end

@interface MLModelDescription : NSObject
@property(readonly, nonatomic) NSDictionary *inputDescriptionsByName;
@property(readonly, nonatomic) NSDictionary *outputDescriptionsByName;
@end

@interface MLFeatureValue : NSObject
@property(readonly, nonatomic) MLMultiArray *multiArrayValue;
+ (instancetype)featureValueWithMultiArray:(MLMultiArray *)value;
@end

@protocol MLFeatureProvider
@property(readonly, nonatomic) NSSet *featureNames;
- (MLFeatureValue *)featureValueForName:(NSString *)featureName;
@end

@interface MLDictionaryFeatureProvider : NSObject <MLFeatureProvider>
- (instancetype)initWithDictionary:(NSDictionary *)dictionary error:(NSError **)error;
@end

@interface MLPredictionOptions : NSObject
@property(readwrite, nonatomic, copy) NSDictionary *outputBackings;
@end

@interface MLModelConfiguration : NSObject
@property(readwrite, nonatomic) MLComputeUnits computeUnits;
@end

@interface MLModel : NSObject
@property(readonly, nonatomic) MLModelDescription *modelDescription;
+ (instancetype)modelWithContentsOfURL:(NSURL *)url
                         configuration:(MLModelConfiguration *)configuration
                                 error:(NSError **)error;
+ (NSURL *)compileModelAtURL:(NSURL *)modelURL error:(NSError **)error;
- (id<MLFeatureProvider>)predictionFromFeatures:(id<MLFeatureProvider>)input
                                        options:(MLPredictionOptions *)options
                                          error:(NSError **)error;
@end

#endif
