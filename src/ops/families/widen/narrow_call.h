// A call of a kernel that reads and writes 16-bit tensors itself (ir::Kernels::fast_16bit).
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/widened.h"

namespace thimble::ops {

class NarrowCall {
 public:
  explicit NarrowCall(const ir::KernelCall& call)
      : call_(call), header_(*static_cast<const ir::WidenedHeader*>(call.params)) {}
  // Those of the f32 kernel.
  template <class T>
  [[nodiscard]] const T& params() const {
    return *reinterpret_cast<const T*>(static_cast<const std::byte*>(call_.params) +
                                       ir::inner_params_at(header_, ir::WidenedRows::all));
  }
  [[nodiscard]] bool is_brain(int input) const { return header_.narrow[input] == 2; }
  [[nodiscard]] bool is_narrow(int input) const { return header_.narrow[input] != 0; }
  [[nodiscard]] int64_t elements(int input) const { return header_.elements[input]; }
  [[nodiscard]] const void* input(int i) const { return call_.inputs[i]; }

 private:
  const ir::KernelCall& call_;
  const ir::WidenedHeader& header_;
};

}  // namespace thimble::ops
