// Tensors of f32 or 16 bits, block by block (channel_rows.h): a block of 16 bits is widened into
// memory of its thread, where it stays in the cache, and rounded from there.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ir/widened.h"
#include "ops/families/norm/channel_rows.h"
#include "ops/storage_16bit/simd.h"

namespace thimble::ops {

inline int64_t values_of(const ChannelRows& r, const ChannelBlock& block) {
  return block.rows * r.width + block.tail;
}

// Memory for the copy of a block, for each thread.
struct BlockScratch {
  BlockScratch() = default;
  BlockScratch(simd::Workspace& workspace, const ChannelRows& r, int threads)
      : distance(simd::round_up(
            std::min(r.block_rows, std::max<int64_t>(r.wide_rows, 1)) * r.width + r.width, 16)),
        first(workspace.take<float>(distance * threads)) {}
  [[nodiscard]] float* of(int worker) const { return first + worker * distance; }

  int64_t distance = 0;
  float* first = nullptr;
};

struct WideSource {
  const float* x;
  [[nodiscard]] const float* read(const ChannelRows& /*r*/, const ChannelBlock& block,
                                  int /*worker*/) const {
    return x + block.first;
  }
};

struct WideSink {
  float* y;
  [[nodiscard]] float* place(const ChannelBlock& block, int /*worker*/) const {
    return y + block.first;
  }
  void finish(const ChannelRows& /*r*/, const ChannelBlock& /*block*/, int /*worker*/) const {}
};

struct NarrowSource {
  const uint16_t* x;
  bool brain;
  BlockScratch copies;
  [[nodiscard]] const float* read(const ChannelRows& r, const ChannelBlock& block,
                                  int worker) const {
    float* const copy = copies.of(worker);
    storage_16bit_impl::from_16bit_values(copy, x + block.first, values_of(r, block), brain);
    return copy;
  }
};

// Its copies may be those of a source that was read before.
struct NarrowSink {
  uint16_t* y;
  bool brain;
  BlockScratch copies;
  [[nodiscard]] float* place(const ChannelBlock& /*block*/, int worker) const {
    return copies.of(worker);
  }
  void finish(const ChannelRows& r, const ChannelBlock& block, int worker) const {
    storage_16bit_impl::to_16bit_values(y + block.first, copies.of(worker), values_of(r, block),
                                        brain);
  }
};

// A call with widened parameters.
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
  [[nodiscard]] const void* input(int i) const { return call_.inputs[i]; }

 private:
  const ir::KernelCall& call_;
  const ir::WidenedHeader& header_;
};

// Memory for inputs with one value a channel, in f32.
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
  static constexpr int kMost = 3;
  int channels_ = 0;
  int used_ = 0;
  float* copies_ = nullptr;
};

}  // namespace thimble::ops
