//===- Driver.cpp - loading CUDA's driver, and its errors -----------------===//
#include "Device.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

using namespace optc::cuda;

bool optc::cuda::loadApi(Api &api, char *why, size_t room) {
  const char *given = getenv("OPTC_CUDA_LIB");
  const char *name = given && *given ? given : "libcuda.so.1";
  // Never closed: the driver keeps threads and handlers for the exit of the process.
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(why, room, "there is no CUDA driver: %s", dlerror());
    return false;
  }
#define OPTC_CUDA_FUNCTION(NAME, PARAMETERS)                                                                           \
  api.NAME = reinterpret_cast<CUresult(*) PARAMETERS>(dlsym(library, #NAME));                                          \
  if (!api.NAME) {                                                                                                     \
    snprintf(why, room, "the CUDA driver '%s' has no function " #NAME "; a driver for CUDA 12 or newer is needed",     \
             name);                                                                                                    \
    return false;                                                                                                      \
  }
  OPTC_CUDA_API(OPTC_CUDA_FUNCTION)
#undef OPTC_CUDA_FUNCTION
  return true;
}

ErrorText optc::cuda::errorText(const Api &api, CUresult result) {
  const char *name = nullptr, *text = nullptr;
  if (api.cuGetErrorName(result, &name) || !name)
    name = "unknown error";
  if (api.cuGetErrorString(result, &text) || !text)
    text = "no text";
  ErrorText error;
  snprintf(error.text, sizeof(error.text), "%s (%d): %s", name, result, text);
  return error;
}

void optc::cuda::failCuda(optc_host *h, CUresult result, const char *what, const char *name) {
  rt::fail(h, result == CUDA_ERROR_OUT_OF_MEMORY ? OPTC_OUT_OF_MEMORY : OPTC_RUN_FAILED, "%s%s failed: %s", what, name,
           errorText(h->device->model->api, result).text);
}

void optc::cuda::failMemory(optc_host *h, int64_t bytes) {
  if (bytes < 0)
    rt::fail(h, OPTC_OUT_OF_MEMORY, "a size is negative or too large (%lld bytes)", (long long)bytes);
  size_t unused = 0, total = 0;
  h->device->model->api.cuMemGetInfo_v2(&unused, &total);
  rt::fail(h, OPTC_OUT_OF_MEMORY, "out of device memory: %lld bytes; %zu of %zu are free", (long long)bytes, unused,
           total);
}
