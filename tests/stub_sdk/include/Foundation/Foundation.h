/* What csrc calls of Apple's Foundation, declared as Apple documents it, for the cross build. */
#ifndef STUB_FOUNDATION_H
#define STUB_FOUNDATION_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef bool BOOL;
#define nil ((id)0)
#define NS_ENUM(type, name) \
    enum name : type name; \
    enum name : type
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

typedef long NSInteger;
typedef unsigned long NSUInteger;

typedef struct {
    NSUInteger location;
    NSUInteger length;
} NSRange;

@class NSString;
@class NSSet;

@protocol NSObject
- (id)retain;
- (void)release;
- (id)autorelease;
@end

__attribute__((objc_root_class)) @interface NSObject <NSObject>
+ (instancetype)alloc;
- (instancetype)init;
@end

@interface NSString : NSObject
+ (instancetype)stringWithFormat:(NSString *)format, ... __attribute__((format(NSString, 1, 2)));
- (const char *)UTF8String;
- (const char *)fileSystemRepresentation;
@end

@interface NSValue : NSObject
- (NSRange)rangeValue;
@end

@interface NSNumber : NSValue
+ (NSNumber *)numberWithInteger:(NSInteger)value;
- (NSInteger)integerValue;
@end

@interface NSArray : NSObject
+ (instancetype)array;
+ (instancetype)arrayWithObject:(id)object;
+ (instancetype)arrayWithObjects:(const id[])objects count:(NSUInteger)count;
- (NSUInteger)count;
- (id)objectAtIndex:(NSUInteger)index;
- (NSArray *)sortedArrayUsingSelector:(SEL)comparator;
@end

@interface NSMutableArray : NSArray
- (void)addObject:(id)object;
@end

@interface NSDictionary : NSObject
+ (instancetype)dictionary;
+ (instancetype)dictionaryWithObjects:(NSArray *)objects forKeys:(NSArray *)keys;
- (NSUInteger)count;
- (NSArray *)allKeys;
- (id)objectForKey:(id)key;
@end

@interface NSMutableDictionary : NSDictionary
- (void)setObject:(id)object forKey:(id)key;
@end

@interface NSURL : NSObject
+ (NSURL *)fileURLWithPath:(NSString *)path;
- (NSString *)path;
@end

@interface NSFileManager : NSObject
+ (NSFileManager *)defaultManager;
- (NSString *)stringWithFileSystemRepresentation:(const char *)path length:(NSUInteger)length;
@end

@interface NSError : NSObject
- (NSString *)domain;
- (NSInteger)code;
- (NSDictionary *)userInfo;
- (NSString *)localizedDescription;
@end

extern NSString *const NSUnderlyingErrorKey;

__attribute__((objc_exception)) @interface NSException : NSObject
- (NSString *)name;
- (NSString *)reason;
@end

#endif
