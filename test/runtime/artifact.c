/* What the object writer emits for z = x + y with x, y: float32[N,3], written by hand: tests link it as a .so artifact.
 */
#include "optc/runtime/artifact.h"
#include <stddef.h>

static void add(const optc_dispatch *d) {
  const float *x = d->buf[0], *y = d->buf[1];
  float *z = d->buf[2];
  for (int64_t i = d->first * 3; i < d->last * 3; ++i)
    z[i] = x[i] + y[i];
}

static int32_t entry(optc_host *h) {
  int64_t dims[2] = {optc_rt_input_dim(h, 0, 0), 3};
  void *buf[3] = {optc_rt_input(h, 0), optc_rt_input(h, 1), optc_rt_output(h, 0, 2, dims)};
  optc_rt_launch(h, add, buf, NULL, dims[0], 0);
  return 0;
}

static const int64_t shape[2] = {-1, 3};
static const char *const symbols[] = {"N"};
static const optc_io_desc inputs[] = {{"x", 0, OPTC_FLOAT, 2, shape}, {"y/in", 0, OPTC_FLOAT, 2, shape}};
static const optc_io_desc outputs[] = {{"z", 0, OPTC_FLOAT, 2, shape}};
const optc_model_desc optc_model_descriptor = {OPTC_DISPATCH_ABI,
                                               sizeof(optc_model_desc),
                                               "add",
                                               "{\"producer\": \"hand\"}",
                                               2,
                                               1,
                                               1,
                                               inputs,
                                               outputs,
                                               symbols,
                                               0,
                                               OPTC_CPU_SSE3,
                                               entry};

__attribute__((visibility("default"))) const optc_api *add_optc_query(uint32_t abi) { return optc_artifact_query(abi); }
