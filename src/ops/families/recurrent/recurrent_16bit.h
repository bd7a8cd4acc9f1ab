// Workspace of recurrent kernels on 16-bit tensors.
#pragma once

#include <algorithm>

#include "ops/families/recurrent/recurrent_dims.h"
#include "ops/families/widen/narrow_call.h"
#include "ops/storage_16bit/simd.h"
#include "simd/packed.h"
#include "simd/workspace.h"

namespace thimble::ops {

// Memory for f32 rows of every task.
struct TaskRows {
  TaskRows() = default;
  // floats: of one sequence of a task.
  TaskRows(simd::Workspace& workspace, int64_t floats, int threads)
      : distance(simd::round_up(simd::kMostPackedRows * floats, 16)),
        first(workspace.take<float>(distance * threads)) {}
  [[nodiscard]] float* of(int worker) const { return first + worker * distance; }

  int64_t distance = 0;
  float* first = nullptr;
};

// A small input in f32: as it is, or widened into memory for `floats` of them. Null: left out.
class SmallInput {
 public:
  SmallInput() = default;
  SmallInput(simd::Workspace& workspace, int64_t floats)
      : floats_(floats), copy_(workspace.take<float>(floats)) {}
  [[nodiscard]] const float* of(const NarrowCall& call, int input) const {
    if (call.input(input) == nullptr) return nullptr;
    if (!call.is_narrow(input)) return static_cast<const float*>(call.input(input));
    storage_16bit_impl::from_16bit_values(copy_, static_cast<const uint16_t*>(call.input(input)),
                                          floats_, call.is_brain(input));
    return copy_;
  }

 private:
  int64_t floats_ = 0;
  float* copy_ = nullptr;
};

}  // namespace thimble::ops
