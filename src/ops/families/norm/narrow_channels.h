// Inputs with one value a channel for kernels of 16-bit tensors: their own may have 16 bits, too.
#pragma once

#include "ops/families/widen/narrow_call.h"
#include "ops/storage_16bit/simd.h"
#include "simd/workspace.h"

namespace thimble::ops {

// Memory for such inputs in f32.
class NarrowChannels {
 public:
  NarrowChannels() = default;
  NarrowChannels(simd::Workspace& workspace, int channels)
      : channels_(channels), copies_(workspace.take<float>(int64_t{kMost} * channels)) {}
  // An input in f32; null where it is left out.
  [[nodiscard]] const float* input(const NarrowCall& call, int i) {
    if (call.input(i) == nullptr) return nullptr;
    if (!call.is_narrow(i)) return static_cast<const float*>(call.input(i));
    float* const copy = copies_ + static_cast<ptrdiff_t>(used_++) * channels_;
    storage_16bit_impl::from_16bit_values(copy, static_cast<const uint16_t*>(call.input(i)),
                                          channels_, call.is_brain(i));
    return copy;
  }

 private:
  static constexpr int kMost = 4;
  int channels_ = 0;
  int used_ = 0;
  float* copies_ = nullptr;
};

}  // namespace thimble::ops
