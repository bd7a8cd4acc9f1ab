#include "io/dynamic_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <thimble/error.h>

namespace thimble::io {

DynamicLibrary::DynamicLibrary(const char* name, std::initializer_list<const char*> files,
                               const char* purpose, const char* package)
    : name_(name) {
  for (const char* const file : files) {
    library_ = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library_ != nullptr) return;
  }
  throw Error(name_, fmt::format("is needed to {} and is not installed; install it, on Debian and "
                                 "Ubuntu with apt-get install {}",
                                 purpose, package));
}

void* DynamicLibrary::address(const char* symbol) const {
  void* const found = ::dlsym(library_, symbol);
  if (found != nullptr) return found;
  throw Error(name_, fmt::format("lacks the function {}; install a newer version", symbol));
}

}  // namespace thimble::io
