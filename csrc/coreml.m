#include <stdlib.h>
#include <string.h>

#include "coreml_objects.h"

/* Copies as much UTF-8 as fits, never part of a character. */
static void copy_text(char *out, size_t room, NSString *text) {
    const char *const utf8 = text ? [text UTF8String] : "";
    size_t n = strlen(utf8);
    if (n >= room) {
        n = room - 1;
        while (n > 0 && ((unsigned char)utf8[n] & 0xc0) == 0x80) {
            n--;
        }
    }
    memcpy(out, utf8, n);
    out[n] = '\0';
}

coreml_status coreml_fail(coreml_failure *failure, NSString *domain, long code, NSString *text) {
    copy_text(failure->domain, sizeof failure->domain, domain);
    failure->code = code;
    copy_text(failure->text, sizeof failure->text, text);
    return COREML_FAILED;
}

coreml_status coreml_failed(coreml_failure *failure, NSError *error) {
    if (error == nil) {
        return coreml_fail(failure, @"twinvox", 0, @"Core ML failed and gave no reason");
    }
    NSString *text = [error localizedDescription];
    NSError *cause = error;
    while ((cause = [[cause userInfo] objectForKey:NSUnderlyingErrorKey]) != nil) {
        text = [NSString stringWithFormat:@"%@: %@", text, [cause localizedDescription]];
    }
    return coreml_fail(failure, [error domain], (long)[error code], text);
}

coreml_status coreml_raised(coreml_failure *failure, NSException *thrown) {
    NSString *const name = thrown ? [thrown name] : @"exception";
    NSString *const reason = thrown ? [thrown reason] : @"Core ML raised a foreign exception";
    return coreml_fail(failure, name, 0, reason);
}

static NSURL *file_url(const char *path) {
    NSFileManager *const files = [NSFileManager defaultManager];
    return [NSURL fileURLWithPath:[files stringWithFileSystemRepresentation:path
                                                                     length:strlen(path)]];
}

coreml_status coreml_compile(const char *package, char **compiled, coreml_failure *failure) {
    @autoreleasepool {
        @try {
            NSError *error = nil;
            NSURL *const url = [MLModel compileModelAtURL:file_url(package) error:&error];
            if (url == nil) {
                return coreml_failed(failure, error);
            }
            *compiled = strdup([[url path] fileSystemRepresentation]);
            return *compiled ? COREML_OK : COREML_NO_MEMORY;
        } @catch (NSException *thrown) {
            return coreml_raised(failure, thrown);
        } @catch (...) {
            return coreml_raised(failure, nil);
        }
    }
}

static coreml_status open_model(coreml_model *model, const char *path, coreml_units units,
                                coreml_failure *failure) {
    NSError *error = nil;
    MLModelConfiguration *const configuration = [[[MLModelConfiguration alloc] init] autorelease];
    [configuration setComputeUnits:(MLComputeUnits)units];
    model->model = [[MLModel modelWithContentsOfURL:file_url(path)
                                      configuration:configuration
                                              error:&error] retain];
    if (model->model == nil) {
        return coreml_failed(failure, error);
    }
    MLModelDescription *const description = [model->model modelDescription];
    const coreml_status status = coreml_describe(
        [description inputDescriptionsByName], &model->input_names, &model->inputs, failure);
    return status ? status
                  : coreml_describe([description outputDescriptionsByName], &model->output_names,
                                    &model->outputs, failure);
}

coreml_status coreml_open(const char *path, coreml_units units, coreml_model **out,
                          coreml_failure *failure) {
    coreml_status status;
    coreml_model *const model = calloc(1, sizeof *model);
    *out = NULL;
    if (model == NULL || pthread_mutex_init(&model->lock, NULL)) {
        free(model);
        return COREML_NO_MEMORY;
    }
    @autoreleasepool {
        @try {
            status = open_model(model, path, units, failure);
        } @catch (NSException *thrown) {
            status = coreml_raised(failure, thrown);
        } @catch (...) {
            status = coreml_raised(failure, nil);
        }
    }
    if (status) {
        coreml_free(model);
        return status;
    }
    *out = model;
    return COREML_OK;
}

const coreml_feature *coreml_inputs(const coreml_model *model, size_t *n) {
    *n = [model->input_names count];
    return model->inputs;
}

const coreml_feature *coreml_outputs(const coreml_model *model, size_t *n) {
    *n = [model->output_names count];
    return model->outputs;
}

void coreml_close(coreml_model *model) {
    pthread_mutex_lock(&model->lock);
    @autoreleasepool {
        [model->model release];
        model->model = nil;
    }
    pthread_mutex_unlock(&model->lock);
}

void coreml_free(coreml_model *model) {
    if (model == NULL) {
        return;
    }
    coreml_close(model);
    @autoreleasepool {
        coreml_forget(model->inputs, [model->input_names count]);
        coreml_forget(model->outputs, [model->output_names count]);
        [model->input_names release];
        [model->output_names release];
    }
    pthread_mutex_destroy(&model->lock);
    free(model);
}
