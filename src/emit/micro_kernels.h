// The kernels that thimble-micro can run, and its C sources.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emit/c_library.h"
#include "emit/c_struct.h"
#include "program/program.h"

namespace thimble::emit {

struct MicroKernel {
  std::string name;  // "conv2d/conv2d_ref"
  KernelName kernel;
  std::string params_type;
  int64_t params_bytes = 0;
  std::string extents;  // the C function that says what it touches
  CLibrary::Function function;
};

// A kernel is offered where its C source says how many bytes it touches (families/extents), so that
// a device can check a program. Not thread-safe.
class MicroKernels {
 public:
  // Throws Error naming the call, with what it lacks.
  const MicroKernel& of(const program::Program& program, const program::Call& call);
  // By the names of kernels. Throws Error where there is no such kernel.
  const MicroKernel& named(const std::string& name);
  // The numbers of type double within the parameters of a kernel: name and offset.
  [[nodiscard]] std::vector<std::pair<std::string, int64_t>> constants(const MicroKernel& kernel) {
    return structs_.doubles(kernel.params_type);
  }
  // The table of all kernels that were asked for, with their code.
  [[nodiscard]] std::string source();

 private:
  const MicroKernel* find(const KernelName& kernel, std::string& lacks);

  CLibrary library_;
  CStructs structs_{library_};
  std::map<std::string, MicroKernel> kernels_;
};

// The runtime with these kernels, as a folder of C99 by file name. Throws Error where it has no
// kernel of a name.
[[nodiscard]] std::map<std::string, std::string> micro_sources(
    const std::vector<std::string>& kernels, const std::string& made_by);

}  // namespace thimble::emit
