//===- Report.cpp - what --bench and --info print -------------------------===//
#include "Options.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sys/resource.h>

using namespace optc::run;

std::string optc::run::quoted(const std::string &text) {
  std::string s = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      (s += '\\') += c;
    } else if (uint8_t(c) < 0x20) {
      char code[8];
      snprintf(code, sizeof(code), "\\u%04x", unsigned(c));
      s += code;
    } else {
      s += c;
    }
  }
  return s + "\"";
}

/// The smallest time that at least this share of the runs did not exceed.
static double percentile(const std::vector<double> &sorted, double share) {
  size_t i = size_t(std::ceil(share * double(sorted.size())));
  return sorted[std::min(sorted.size() - 1, i ? i - 1 : 0)];
}

/// Bytes. getrusage also counts what the parent held before it started this program, which is more than a small model
/// needs.
static long long peakMemory() {
  long long kib = -1;
  if (FILE *f = fopen("/proc/self/status", "r")) {
    char line[256];
    while (kib < 0 && fgets(line, sizeof(line), f))
      if (sscanf(line, "VmHWM: %lld kB", &kib) != 1)
        kib = -1;
    fclose(f);
  }
  rusage usage = {};
  if (kib < 0 && !getrusage(RUSAGE_SELF, &usage))
    kib = usage.ru_maxrss;
  return kib < 0 ? 0 : kib * 1024;
}

void optc::run::printTimes(Times &times, const char *device, bool json) {
  if (device && !json)
    printf("on %s\n", device);
  std::vector<double> &t = times.milliseconds;
  double total = 0;
  for (double x : t)
    total += x;
  std::sort(t.begin(), t.end());
  double p50 = percentile(t, 0.5);
  // Spread of the middle half, relative to the median.
  double noise = p50 > 0 ? (percentile(t, 0.75) - percentile(t, 0.25)) / p50 : 0;
  long long peak = peakMemory();
  double perSecond = total > 0 ? 1e3 * double(t.size()) / total : 0;
  if (json)
    printf("{\"min_ms\": %.6g, \"p50_ms\": %.6g, \"p95_ms\": %.6g, \"p99_ms\": %.6g, \"runs\": %zu, "
           "\"throughput_per_s\": %.6g, \"load_ms\": %.6g, "
           "\"peak_rss_bytes\": %lld, \"noise\": %.4g%s%s}\n",
           t[0], p50, percentile(t, 0.95), percentile(t, 0.99), t.size(), perSecond, times.loadMilliseconds, peak,
           noise, device ? ", \"device\": " : "", device ? quoted(device).c_str() : "");
  else
    printf("min %.4g ms, p50 %.4g ms, p95 %.4g ms, p99 %.4g ms over %zu runs (%.4g per second), noise %.1f %%\nload "
           "%.3g ms, peak memory %.1f MiB\n",
           t[0], p50, percentile(t, 0.95), percentile(t, 0.99), t.size(), perSecond, noise * 100,
           times.loadMilliseconds, double(peak) / (1 << 20));
}

static std::string dimText(const optc_model_desc &d, int64_t dim, bool json) {
  if (dim >= 0)
    return std::to_string(dim);
  std::string name = dim == INT64_MIN || !d.symbols ? "?" : d.symbols[-1 - dim];
  return json ? quoted(name) : name;
}

static void printValues(const optc_model_desc &d, const optc_io_desc *io, int32_t count, const char *title, bool json) {
  static const char *const kinds[] = {"tensor", "sequence", "optional", "optional sequence"};
  if (json)
    printf("\"%s\": [", title);
  for (int32_t i = 0; i < count; ++i) {
    std::string shape;
    for (int32_t k = 0; k < io[i].rank; ++k)
      shape += (k ? (json ? ", " : ",") : "") + dimText(d, io[i].dims[k], json);
    shape = io[i].rank < 0 ? (json ? "null" : "of any rank") : "[" + shape + "]";
    if (json)
      printf("%s{\"name\": %s, \"kind\": \"%s\", \"dtype\": \"%s\", \"shape\": %s%s}", i ? ", " : "",
             quoted(io[i].name).c_str(), kinds[io[i].kind & 3], optc_dtype_name(io[i].dtype), shape.c_str(),
             isOptional(io[i]) ? ", \"optional\": true" : "");
    else
      printf("  %s %s: %s%s%s %s%s\n", title, io[i].name, io[i].kind ? kinds[io[i].kind & 3] : "",
             io[i].kind ? " of " : "", optc_dtype_name(io[i].dtype), shape.c_str(),
             io[i].value ? ", has a default" : "");
  }
  if (json)
    printf("], ");
}

/// Kernels that other devices than the chip have versions of their own of.
static int numGeneric(const optc_device_desc &device) {
  int n = 0;
  for (int32_t i = 0; i < device.num_kernels; ++i)
    n += device.kernels[i].generic != nullptr;
  return n;
}

void optc::run::printInfo(const optc_model_desc &d, bool json) {
  char features[400];
  optc_cpu_feature_names(d.cpu_features, features, sizeof(features));
  const char *metadata = d.metadata && *d.metadata ? d.metadata : "{}";
  if (json)
    printf("{\"name\": %s, ", quoted(d.name ? d.name : "").c_str());
  else
    printf("model %s\n", d.name ? d.name : "");
  printValues(d, d.inputs, d.num_inputs, json ? "inputs" : "input", json);
  printValues(d, d.outputs, d.num_outputs, json ? "outputs" : "output", json);
  if (json)
    printf("\"arena_bytes\": %lld, \"cpu_features\": \"%s\", \"abi\": %u, ", (long long)d.arena_bytes, features, d.abi);
  else
    printf("  arena: %lld bytes\n  CPU features needed: %s\n", (long long)d.arena_bytes, *features ? features : "none");
  if (const optc_device_desc *device = d.device)
    printf(
        json
            ? "\"device\": {\"chip\": %d, \"kernels\": %d, \"cubin_bytes\": %llu, \"generic_kernels\": %d, "
              "\"ptx_bytes\": %llu, \"emulation_bytes\": %llu}, "
            : "  device: sm_%d, %d kernels, %llu bytes of cubin; other devices: %d generic kernels instead, %llu bytes "
              "of PTX; %llu bytes for the emulator\n",
        device->chip, device->num_kernels, (unsigned long long)device->cubin_bytes, numGeneric(*device),
        (unsigned long long)device->ptx_bytes, (unsigned long long)device->emulation_bytes);
  printf(json ? "\"metadata\": %s}\n" : "  metadata: %s\n", metadata);
}
