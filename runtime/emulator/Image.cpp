//===- Image.cpp - loading what codegen/cuda/emulate makes -----------------===//
#include "Engine.h"
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace optc::emulator;

namespace optc::emulator {
struct Image {
  void *library = nullptr;
  std::vector<Kernel> kernels;
};
} // namespace optc::emulator

bool optc::emulator::isImage(const void *bytes, size_t size) {
  Elf64_Ehdr header;
  if (size < sizeof header)
    return false;
  memcpy(&header, bytes, sizeof header);
  return !memcmp(header.e_ident, ELFMAG, SELFMAG) && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_machine == EM_X86_64 && header.e_type == ET_DYN;
}

/// A file without a name, from which dlopen reads. -1 on failure.
static int memoryFile(const void *bytes, size_t size) {
  int fd = memfd_create("optc-emulation", MFD_CLOEXEC);
  for (size_t done = 0; fd >= 0 && done < size;) {
    ssize_t n = write(fd, static_cast<const char *>(bytes) + done, size - done);
    if (n <= 0) {
      close(fd);
      return -1;
    }
    done += n;
  }
  return fd;
}

Image *optc::emulator::loadImage(Engine &, const void *bytes, size_t size, std::string &error) {
  if (!isImage(bytes, size)) {
    error = "this is no image for the emulator; compile with --emulate";
    return nullptr;
  }
  int fd = memoryFile(bytes, size);
  if (fd < 0) {
    error = std::string("the image cannot be copied to memory: ") + strerror(errno);
    return nullptr;
  }
  auto image = std::make_unique<Image>();
  std::string path = "/proc/self/fd/" + std::to_string(fd);
  image->library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!image->library)
    error = std::string("the image cannot be loaded: ") + dlerror();
  close(fd);
  if (!image->library)
    return nullptr;
  auto *header = static_cast<const ImageHeader *>(dlsym(image->library, kHeaderSymbol));
  if (!header || header->version != kAbiVersion) {
    error = "the image is of another version of optc";
    dlclose(image->library);
    return nullptr;
  }
  for (uint32_t i = 0; i < header->numFunctions; ++i) {
    header->functions[i] = findFunction(header->functionNames[i]);
    if (!header->functions[i]) {
      error = std::string("the image calls ") + header->functionNames[i] + ", which this emulator does not have";
      dlclose(image->library);
      return nullptr;
    }
  }
  for (uint64_t i = 0; i < header->numKernels; ++i)
    image->kernels.push_back({&header->kernels[i], image.get()});
  return image.release();
}

void optc::emulator::unloadImage(Engine &, Image *image) {
  if (!image)
    return;
  dlclose(image->library);
  delete image;
}

const Kernel *optc::emulator::findKernel(const Image &image, const char *name) {
  for (const Kernel &kernel : image.kernels)
    if (!strcmp(kernel.record->name, name))
      return &kernel;
  return nullptr;
}

size_t optc::emulator::staticSharedBytes(const Kernel &kernel) { return kernel.record->sharedBytes; }
unsigned optc::emulator::numParameters(const Kernel &kernel) { return kernel.record->numParameters; }

size_t optc::emulator::parameterBytes(const Kernel &kernel, unsigned index) {
  return kernel.record->parameterBytes[index];
}
