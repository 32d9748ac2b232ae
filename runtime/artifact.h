/*===- artifact.h - what an artifact exports --------------------------------===*
 *
 * A .so artifact embeds liboptc_rt.a. Its object writer defines
 *
 *   const optc_model_desc optc_model_descriptor;         hidden, see dispatch.h
 *
 * and exports, under the model's symbol NAME, thunks to the hidden functions below
 * (a jump or an alias):
 *
 *   NAME_optc_query -> optc_artifact_query      every loader starts here
 *   NAME_create     -> optc_artifact_create     the typed C interface that the
 *   NAME_run        -> optc_artifact_run        generated NAME.h wraps in inline
 *   NAME_destroy    -> optc_artifact_destroy    functions with typed parameters
 *
 * Link order: generated objects, then liboptc_rt.a with these functions named by
 * `-u` or referenced by the thunks; -Wl,--gc-sections drops operators nobody calls.
 *
 * --emit=obj and static-lib contain no runtime: they export the descriptor as
 * NAME_descriptor, and the generated header calls optc_model_from_desc(&NAME_descriptor).
 * The same header functions then come from optc_desc_create/run/destroy.
 *===----------------------------------------------------------------------===*/
#ifndef OPTC_RUNTIME_ARTIFACT_H
#define OPTC_RUNTIME_ARTIFACT_H
#include "optc.h"
#ifdef __cplusplus
extern "C" {
#endif

#define OPTC_HIDDEN __attribute__((visibility("hidden")))

extern const optc_model_desc optc_model_descriptor OPTC_HIDDEN;

const optc_api *optc_artifact_query(uint32_t abi) OPTC_HIDDEN;
/* A context of the artifact's model with its own model object. */
optc_status optc_artifact_create(int32_t threads, optc_context **context, optc_error *error) OPTC_HIDDEN;
/* inputs[i], outputs[i]: contiguous buffers of the descriptor's dtypes; input_dims[i] and output_dims[i] may be null
 * where all sizes are static. An output buffer may be null: the context's memory is then stored into outputs[i]. So may
 * an input that is optional or has a default. */
optc_status optc_artifact_run(optc_context *context, const void *const *inputs, const int64_t *const *input_dims,
                              void **outputs, const int64_t *const *output_dims, optc_error *error) OPTC_HIDDEN;
void optc_artifact_destroy(optc_context *context) OPTC_HIDDEN;

/* The same for a descriptor that is linked statically. */
optc_status optc_desc_create(const optc_model_desc *desc, int32_t threads, optc_context **context, optc_error *error);
optc_status optc_desc_run(optc_context *context, const void *const *inputs, const int64_t *const *input_dims,
                          void **outputs, const int64_t *const *output_dims, optc_error *error);
void optc_desc_destroy(optc_context *context);

#ifdef __cplusplus
}
#endif
#endif
