// The kernels of update_in_parts: they call those of the two ops.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/op_def.h"

namespace thimble::ops::update_in_parts_impl {

// Where the inputs of the node stand.
inline constexpr int kMaxStates = 4;
inline constexpr int kParam = 0;
inline constexpr int kRate = 1;
inline constexpr int kStep = 2;
inline constexpr int kFirstState = 3;
inline constexpr int kMomentum = kFirstState + kMaxStates;
inline constexpr int kFirstOfGradient = kMomentum + 1;
inline constexpr int kMaxGradientInputs = 8;

// Parameters of an inner kernel, by their bytes.
struct InnerParams {
  alignas(16) std::byte bytes[192];
};

struct UpdateInPartsDims {
  const OpDef* gradient;
  const OpDef* update;
  int64_t rows;       // of the parameter
  int64_t part_rows;  // at a time; the last part may have fewer
  int64_t row_elements;
  int64_t part_bytes;           // of memory for a part that one thread computes
  double flops;                 // of the gradient
  InnerParams gradient_params;  // of the whole
  InnerParams update_params;
};

// Real: float or double. Takes scratch memory from the heap: only reference runs come here.
template <class Real>
void update_in_parts_ref(const ir::KernelCall& call);

// UpdateInPartsDims::part_bytes of the rest.
[[nodiscard]] int64_t bytes_of_part(const UpdateInPartsDims& d);

// Threads share out the parts where these are enough, else each part.
void update_in_parts_fast(const ir::KernelCall& call);
[[nodiscard]] int64_t update_in_parts_workspace(const ir::Params& params, int threads);

}  // namespace thimble::ops::update_in_parts_impl
