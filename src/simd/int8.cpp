// int8 convolutions as products of packed matrices. The weights are packed in every call, or once
// for many: words of 4 bytes that hold the weights of neighbouring taps, a vector of output
// channels side by side (int8_weights-inl.h). A task copies the pixels that a block of windows
// reads, with cells for those outside the image, and runs register tiles over them: a tile reads
// the words of neighbouring taps where they lie in the copy, and an instruction multiplies and adds
// the taps of a word in every lane. With VNNI or Arm's dot product a word is 4 bytes, else 2
// numbers of 16 bits, x less its zero point (int8_words-inl.h). Depthwise convolutions make such
// words of neighbouring rows (int8_depthwise-inl.h).

#include "simd/int8.h"

#include <algorithm>

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include "simd/int8_layout.h"
#include "simd/int8_scratch.h"
#include "simd/workspace.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/int8.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "simd/int8-inl.h"
#include "simd/int8_block-inl.h"
#include "simd/int8_depthwise-inl.h"
#include "simd/int8_row-inl.h"
#include "simd/int8_weights-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// The panels [first, end) of a block.
template <class Words>
void multiply_panels(const Block<Words>& block, const Channels<Words>& channels,
                     const Int8Scratch& s, int first, int end, const Finish& finish) {
  for (int panel = first; panel < end; ++panel) {
    const int vector = channels.first_vector(panel);
    const int vectors = channels.first_vector(panel + 1) - vector;
    const int32_t* const weights = s.weights + channels.offset(panel);
    if (vectors == 1) block.template multiply<1>(channels, s, vector, weights, finish);
    if (vectors == 2) block.template multiply<2>(channels, s, vector, weights, finish);
    if constexpr (kMaxVectors > 2) {
      if (vectors == 3) block.template multiply<3>(channels, s, vector, weights, finish);
      if (vectors == 4) block.template multiply<4>(channels, s, vector, weights, finish);
    }
  }
}

// Packs the weights of a group, with what else depends on them, the bias and the factors.
template <class Words>
void prepare(const int8_t* w, const int32_t* bias, const Int8Scratch& s,
             const Channels<Words>& channels, int64_t taps, const Int8Result& result,
             parallel::ThreadPool& pool) {
  const int first = channels.first();
  prepare_channels(s, bias, result, channels.positions(),
                   [&](int k) { return first + channels.channel(k / lanes()) + k % lanes(); });
  const bool folds = can_fold(bias, first, channels.count(), taps);
  s.factors->folds = folds;
  pool.run(channels.panels(), [&](int64_t panel) HWY_ATTR {
    const auto number = static_cast<int>(panel);
    channels.pack(s, w, number, result.input_zero_point);
    const int end = channels.first_vector(number + 1) * lanes();
    for (int k = channels.first_vector(number) * lanes(); folds && k < end; ++k) {
      s.start[k] += s.bias[k];
    }
  });
}

template <class Words>
void convolve(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias,
              const Int8Scratch& s, const conv_dims& d, const Int8Layout& layout,
              const Int8Result& result, parallel::ThreadPool& pool, Int8Part part) {
  const int pixels = int8_block_pixels(d);
  const Int8Patch patch = int8_patch(d, pixels);
  const Int8Blocks blocks = int8_blocks(d, pixels);
  const bool is_dense = layout.column == d.k && layout.row == int64_t{d.q} * d.k;
  const Convolution convolution{x, d, layout, patch, result.input_zero_point, is_dense};
  for (int g = 0; g < d.groups; ++g) {
    const Channels<Words> channels(d, layout, patch, g);
    if (part != Int8Part::pixels) {
      prepare(w, bias, s, channels, int64_t{patch.runs} * patch.length, result, pool);
    }
    if (part == Int8Part::weights) continue;
    const Finish finish(result, s);
    // Few blocks share their panels, too.
    constexpr int64_t kWantedTasks = 16;
    const int64_t all = blocks.blocks();
    const int64_t parts =
        all <= 1 ? 1 : std::clamp<int64_t>(kWantedTasks / all, 1, channels.panels());
    pool.run_with_worker(all * parts, [&](int64_t task, int worker) HWY_ATTR {
      auto* const cells =
          reinterpret_cast<typename Words::Element*>(s.pixels + worker * s.worker_words);
      const Block<Words> block(convolution, blocks, task / parts, g, y + channels.first(), cells);
      const int64_t number = task % parts;
      multiply_panels(block, channels, s, static_cast<int>(number * channels.panels() / parts),
                      static_cast<int>((number + 1) * channels.panels() / parts), finish);
    });
  }
}

bool int8_has_quads() {
#if THIMBLE_INT8_VNNI
  static const bool has_vnni = __builtin_cpu_supports("avx512vnni") != 0;
  return has_vnni;
#elif THIMBLE_INT8_SDOT && defined(__linux__)
  constexpr unsigned long kDotProduct = 1UL << 20;  // HWCAP_ASIMDDP
  static const bool has_sdot = (getauxval(AT_HWCAP) & kDotProduct) != 0;
  return has_sdot;
#elif THIMBLE_INT8_SDOT && (defined(__APPLE__) || defined(__ARM_FEATURE_DOTPROD))
  return true;
#else
  return false;
#endif
}

// Calls run with the widest words of these that the processor multiplies.
template <class Run>
void with_words(Int8Words words, const Run& run) {
#if THIMBLE_INT8_QUADS
  if (words != Int8Words::pairs && int8_has_quads()) return run(Quads());
#else
  static_cast<void>(words);
#endif
  run(Pairs());
}

void int8_conv_target(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias,
                      const Int8Scratch& s, const conv_dims& d, const Int8Layout& layout,
                      const Int8Result& result, parallel::ThreadPool& pool, Int8Words words,
                      Int8Part part) {
  const auto run = [&](auto kind) HWY_ATTR {
    using Words = decltype(kind);
    if (is_int8_depthwise(d)) {
      convolve_depthwise<Words>(y, x, w, bias, s, d, layout, result, pool, part);
    } else {
      convolve<Words>(y, x, w, bias, s, d, layout, result, pool, part);
    }
  };
  with_words(words, run);
}

void int8_row_target(int8_t* y, const int8_t* x, void* prepared, void* workspace, int c, int k,
                     const Int8Result& result, Int8Words words) {
  const auto run = [&](auto kind) HWY_ATTR {
    using Words = decltype(kind);
    Int8Scratch scratch{};
    Workspace weights(prepared);
    carve_int8_row(weights, c, k, Words::kUnit, scratch);
    auto* const cells = Workspace(workspace).take<typename Words::Element>(1);
    Row<Words>(y, x, scratch, c, k, result, cells).multiply();
  };
  with_words(words, run);
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::simd {
HWY_EXPORT(int8_conv_target);
HWY_EXPORT(int8_row_target);
HWY_EXPORT(int8_has_quads);

bool int8_has(Int8Words words) {
  return words != Int8Words::quads || HWY_DYNAMIC_DISPATCH(int8_has_quads)();
}

namespace {

bool is_empty(const conv_dims& d) { return int64_t{d.n} * d.p * d.q * d.k == 0; }

int unit_of(Int8Words words) {
  return words != Int8Words::pairs && HWY_DYNAMIC_DISPATCH(int8_has_quads)() ? 4 : 2;
}

// Weights and pixels; the same for every vector target.
int64_t scratch_bytes(const conv_dims& d, int threads) {
  int64_t bytes = 0;
  for (const int unit : {2, 4}) {
    Int8Scratch scratch{};
    Workspace counter(nullptr);
    carve_int8_weights(counter, d, unit, scratch);
    carve_int8_pixels(counter, d, threads, scratch);
    bytes = std::max(bytes, counter.bytes());
  }
  return bytes;
}

void run(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias, void* workspace,
         const conv_dims& d, const Int8Layout& layout, const Int8Result& result,
         parallel::ThreadPool& pool, Int8Words words) {
  Int8Scratch scratch{};
  Workspace own(workspace);
  carve_int8_weights(own, d, unit_of(words), scratch);
  carve_int8_pixels(own, d, pool.threads(), scratch);
  HWY_DYNAMIC_DISPATCH(int8_conv_target)
  (y, x, w, bias, scratch, d, layout, result, pool, words, Int8Part::both);
}

}  // namespace

int64_t int8_conv_workspace_bytes(const conv_dims& d, int threads) {
  return is_empty(d) || !int8_conv_fits(d) ? 0 : scratch_bytes(int8_flattened(d), threads);
}

void int8_conv(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias, void* workspace,
               const conv_dims& d, const Int8Result& result, parallel::ThreadPool& pool,
               Int8Words words) {
  if (is_empty(d)) return;
  const conv_dims flat = int8_flattened(d);
  run(y, x, w, bias, workspace, flat, int8_layout(flat), result, pool, words);
}

int64_t int8_conv_prepared_bytes(const conv_dims& d, Int8Words words) {
  if (is_empty(d) || !int8_conv_fits(d)) return 0;
  const conv_dims flat = int8_flattened(d);
  if (flat.groups > 1 && !is_int8_depthwise(flat)) return 0;
  Int8Scratch scratch{};
  Workspace counter(nullptr);
  carve_int8_weights(counter, flat, unit_of(words), scratch);
  return counter.bytes();
}

void int8_conv_prepare(void* prepared, const int8_t* w, const int32_t* bias, const conv_dims& d,
                       const Int8Result& result, parallel::ThreadPool& pool, Int8Words words) {
  const conv_dims flat = int8_flattened(d);
  Int8Scratch scratch{};
  Workspace own(prepared);
  carve_int8_weights(own, flat, unit_of(words), scratch);
  HWY_DYNAMIC_DISPATCH(int8_conv_target)
  (nullptr, nullptr, w, bias, scratch, flat, int8_layout(flat), result, pool, words,
   Int8Part::weights);
}

int64_t int8_conv_prepared_workspace_bytes(const conv_dims& d, int threads) {
  if (is_empty(d)) return 0;
  Int8Scratch scratch{};
  Workspace counter(nullptr);
  carve_int8_pixels(counter, int8_flattened(d), threads, scratch);
  return counter.bytes();
}

void int8_conv_prepared(int8_t* y, const int8_t* x, const void* prepared, void* workspace,
                        const conv_dims& d, const Int8Result& result, parallel::ThreadPool& pool,
                        Int8Words words) {
  void* const form = const_cast<void*>(prepared);  // which is read only
  if (is_int8_row(d)) {
    return HWY_DYNAMIC_DISPATCH(int8_row_target)(y, x, form, workspace, d.c, d.k, result, words);
  }
  const conv_dims flat = int8_flattened(d);
  Int8Scratch scratch{};
  Workspace weights(form);
  carve_int8_weights(weights, flat, unit_of(words), scratch);
  Workspace own(workspace);
  carve_int8_pixels(own, flat, pool.threads(), scratch);
  HWY_DYNAMIC_DISPATCH(int8_conv_target)
  (y, x, nullptr, nullptr, scratch, flat, int8_layout(flat), result, pool, words, Int8Part::pixels);
}

int64_t int8_conv_transpose_workspace_bytes(const conv_dims& d, int threads) {
  int64_t bytes = 0;
  if (is_empty(d) || !int8_conv_fits(d)) return bytes;
  for_each_int8_phase(d, [&](const conv_dims& phase, int64_t /*first*/, const Int8Layout&) {
    bytes = std::max(bytes, scratch_bytes(phase, threads));
  });
  return bytes;
}

void int8_conv_transpose(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias,
                         void* workspace, const conv_dims& d, const Int8Result& result,
                         parallel::ThreadPool& pool, Int8Words words) {
  if (is_empty(d)) return;
  for_each_int8_phase(d, [&](const conv_dims& phase, int64_t first, const Int8Layout& layout) {
    run(y + first, x, w, bias, workspace, phase, layout, result, pool, words);
  });
}

}  // namespace thimble::simd
#endif
