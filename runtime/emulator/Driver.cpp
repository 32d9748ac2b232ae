//===- Driver.cpp - state of the stand-in, contexts, modules, errors ------===//
#include "Driver.h"
#include <cstdlib>
#include <cstring>
#include <elf.h>

using namespace optc::cuda;
using optc::emulator::Engine;

namespace {
struct ErrorName {
  CUresult result;
  const char *name, *text;
};
} // namespace

static constexpr ErrorName kErrors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "the stream is not capturing"},
};

static const ErrorName *findError(CUresult result) {
  for (const ErrorName &error : kErrors)
    if (error.result == result)
      return &error;
  return nullptr;
}

Driver &Driver::get() {
  static Driver driver;
  return driver;
}

CUresult Driver::initialize() {
  if (isInitialized)
    return CUDA_SUCCESS;
  emulator::Modes modes;
  std::string problem;
  if (!emulator::parseModes(std::getenv("OPTC_EMULATOR"), modes, problem))
    return fail(CUDA_ERROR_INVALID_VALUE, problem);
  engine = emulator::createEngine(modes);
  maxBlocks = modes.maxBlocks;
  capability = modes.capability;
  isInitialized = true;
  return CUDA_SUCCESS;
}

CUresult Driver::fail(CUresult result, const std::string &text) {
  texts[result] = text;
  return result;
}

std::string Driver::textOf(CUresult result) const {
  const ErrorName *error = findError(result);
  std::string general = error ? error->text : "unknown error";
  auto it = texts.find(result);
  return it == texts.end() ? general : general + ": " + it->second;
}

CUresult Driver::drain(StreamHandle &stream) {
  if (stream.isCapturing || stream.queue.empty())
    return broken;
  std::vector<Work> queue;
  queue.swap(stream.queue);
  DeviceMemory::Access access(memory);
  for (Work &work : queue) {
    if (broken)
      break;
    broken = work();
  }
  return broken;
}

CUresult Driver::drain() {
  for (StreamHandle *stream : streams)
    drain(*stream);
  return broken;
}

CUresult Driver::enqueue(CUstream stream, Work work) {
  if (!streams.count(stream))
    return fail(CUDA_ERROR_INVALID_HANDLE, "not a stream (the emulator has no default stream)");
  stream->queue.push_back(std::move(work));
  return CUDA_SUCCESS;
}

void Driver::reset() {
  for (StreamHandle *stream : streams)
    delete stream;
  for (GraphHandle *graph : graphs)
    delete graph;
  for (GraphExecHandle *exec : execs)
    delete exec;
  for (ModuleHandle *module : modules) {
    emulator::unloadImage(*engine, module->image);
    delete module;
  }
  while (void *address = memory.any()) {
    emulator::removeAllocation(*engine, address);
    memory.release(address);
  }
  streams.clear();
  graphs.clear();
  execs.clear();
  modules.clear();
  broken = CUDA_SUCCESS;
  texts.clear();
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

/// The one context; only its address matters.
static char theContext;
static CUcontext context() { return reinterpret_cast<CUcontext>(&theContext); }
/// Of the calling thread.
static std::vector<CUcontext> &contextStack() {
  static thread_local std::vector<CUcontext> stack;
  return stack;
}

#define OPTC_ENTER()                                                                                                   \
  Driver &d = Driver::get();                                                                                           \
  std::lock_guard<std::mutex> lock(d.mutex);                                                                           \
  if (CUresult state = d.state())                                                                                      \
    return state;
#define OPTC_ENTER_CONTEXT()                                                                                           \
  OPTC_ENTER()                                                                                                         \
  if (contextStack().empty())                                                                                          \
    return CUDA_ERROR_INVALID_CONTEXT;

CUresult optc::cuda::cuInit(unsigned flags) {
  Driver &d = Driver::get();
  std::lock_guard<std::mutex> lock(d.mutex);
  return flags ? CUDA_ERROR_INVALID_VALUE : d.initialize();
}

CUresult optc::cuda::cuDeviceGetCount(int *count) {
  OPTC_ENTER()
  *count = 1;
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuDeviceGet(CUdevice *device, int ordinal) {
  OPTC_ENTER()
  *device = 0;
  return ordinal ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult optc::cuda::cuDeviceGetName(char *name, int size, CUdevice) {
  OPTC_ENTER()
  if (size < 1)
    return CUDA_ERROR_INVALID_VALUE;
  std::string text = d.capability == 90 ? "optc emulator (H200)" : "optc emulator";
  std::strncpy(name, text.c_str(), static_cast<size_t>(size) - 1);
  name[size - 1] = 0;
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuDeviceGetAttribute(int *value, int attribute, CUdevice) {
  OPTC_ENTER()
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
    *value = static_cast<int>(d.maxBlocks);
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = d.capability / 10;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *value = d.capability % 10;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult optc::cuda::cuDevicePrimaryCtxRetain(CUcontext *made, CUdevice) {
  OPTC_ENTER()
  ++d.contexts;
  *made = context();
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuDevicePrimaryCtxRelease_v2(CUdevice) {
  Driver &d = Driver::get();
  std::lock_guard<std::mutex> lock(d.mutex);
  if (!d.contexts)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (--d.contexts == 0)
    d.reset();
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuCtxGetCurrent(CUcontext *current) {
  *current = contextStack().empty() ? nullptr : contextStack().back();
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuCtxGetDevice(CUdevice *device) {
  *device = 0;
  return contextStack().empty() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

CUresult optc::cuda::cuCtxPushCurrent_v2(CUcontext pushed) {
  if (pushed != context())
    return CUDA_ERROR_INVALID_CONTEXT;
  contextStack().push_back(pushed);
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuCtxPopCurrent_v2(CUcontext *popped) {
  if (contextStack().empty())
    return CUDA_ERROR_INVALID_CONTEXT;
  *popped = contextStack().back();
  contextStack().pop_back();
  return CUDA_SUCCESS;
}

/// The size of an ELF file: the end of its section headers and of its sections.
static size_t elfSize(const char *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  size_t end = header.e_shoff + size_t(header.e_shnum) * sizeof(Elf64_Shdr);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image + header.e_shoff + i * sizeof(Elf64_Shdr), sizeof(section));
    if (section.sh_type != SHT_NOBITS)
      end = std::max<size_t>(end, section.sh_offset + section.sh_size);
  }
  return end;
}

CUresult optc::cuda::cuModuleLoadDataEx(CUmodule *module, const void *data, unsigned count, int *options,
                                        void **values) {
  OPTC_ENTER_CONTEXT()
  auto *image = static_cast<const char *>(data);
  auto refuse = [&](CUresult result, const std::string &text) {
    char *log = nullptr;
    size_t room = 0;
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
        log = static_cast<char *>(values[i]);
      else if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
        room = reinterpret_cast<size_t>(values[i]);
    }
    if (log && room) {
      std::strncpy(log, text.c_str(), room - 1);
      log[room - 1] = 0;
    }
    return result;
  };
  Elf64_Ehdr header;
  if (std::memcmp(image, ELFMAG, SELFMAG) != 0)
    return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, "the emulator compiles no PTX");
  std::memcpy(&header, image, sizeof(header));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64)
    return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, "the emulator takes images made with --emulate only");
  size_t size = elfSize(image);
  if (!emulator::isImage(image, size))
    return refuse(CUDA_ERROR_INVALID_IMAGE, "not an image made with --emulate");
  std::string problem;
  emulator::Image *loaded = emulator::loadImage(*d.engine, image, size, problem);
  if (!loaded)
    return refuse(CUDA_ERROR_INVALID_IMAGE, problem);
  *module = new ModuleHandle{loaded, {}};
  d.modules.insert(*module);
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuModuleUnload(CUmodule module) {
  Driver &d = Driver::get();
  std::lock_guard<std::mutex> lock(d.mutex);
  d.drain();
  if (!d.modules.erase(module))
    return CUDA_ERROR_INVALID_HANDLE;
  emulator::unloadImage(*d.engine, module->image);
  delete module;
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  OPTC_ENTER_CONTEXT()
  if (!d.modules.count(module))
    return CUDA_ERROR_INVALID_HANDLE;
  const emulator::Kernel *kernel = emulator::findKernel(*module->image, name);
  if (!kernel)
    return d.fail(CUDA_ERROR_NOT_FOUND, name);
  auto it = module->functions.try_emplace(name, FunctionHandle{kernel, name, Driver::kDefaultSharedBytes}).first;
  *function = &it->second;
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  OPTC_ENTER_CONTEXT()
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    return CUDA_ERROR_NOT_SUPPORTED;
  size_t taken = emulator::staticSharedBytes(*function->kernel);
  if (value < 0 || static_cast<size_t>(value) + taken > emulator::maxSharedBytes(d.capability))
    return d.fail(CUDA_ERROR_INVALID_VALUE, std::to_string(value) + " bytes of dynamic and " + std::to_string(taken) +
                                                " of static shared memory; a block has " +
                                                std::to_string(emulator::maxSharedBytes(d.capability)));
  function->maxDynamicBytes = static_cast<size_t>(value);
  return CUDA_SUCCESS;
}

CUresult optc::cuda::cuGetErrorName(CUresult result, const char **text) {
  const ErrorName *error = findError(result);
  *text = error ? error->name : nullptr;
  return error ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult optc::cuda::cuGetErrorString(CUresult result, const char **text) {
  static thread_local std::string last;
  Driver &d = Driver::get();
  std::lock_guard<std::mutex> lock(d.mutex);
  last = d.textOf(result);
  *text = last.c_str();
  return findError(result) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
