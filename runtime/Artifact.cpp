//===- Artifact.cpp - what a .so artifact exports, bound to its descriptor --===//
#include "Internal.h"

using namespace optc::rt;

static const optc_api artifactApi = OPTC_API_TABLE(&optc_model_descriptor);

extern "C" const optc_api *optc_artifact_query(uint32_t abi) { return abi == OPTC_API_ABI ? &artifactApi : nullptr; }

extern "C" optc_status optc_artifact_create(int32_t threads, optc_context **context, optc_error *error) {
  return optc_desc_create(&optc_model_descriptor, threads, context, error);
}

extern "C" optc_status optc_artifact_run(optc_context *context, const void *const *inputs,
                                         const int64_t *const *inputDims, void **outputs,
                                         const int64_t *const *outputDims, optc_error *error) {
  return optc_desc_run(context, inputs, inputDims, outputs, outputDims, error);
}

extern "C" void optc_artifact_destroy(optc_context *context) { optc_desc_destroy(context); }
