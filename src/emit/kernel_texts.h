// The C source of all reference kernels and of thimble-micro, as the build put it into the library.
#pragma once

#include <span>
#include <string_view>

namespace thimble::emit {

struct KernelText {
  std::string_view path;  // below src: "ops/<op>/ref.h", "micro/run.c"
  std::string_view text;
};

// In the order of their paths.
[[nodiscard]] std::span<const KernelText> kernel_texts();

}  // namespace thimble::emit
