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
#include "simd/int8_depthwise-inl.h"
#include "simd/int8_weights-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// A convolution that is not depthwise.
struct Convolution {
  const int8_t* x;
  const conv_dims& d;
  const Int8Layout& layout;
  const Int8Patch& patch;
  int zero;  // of x
};

// The pixels of a task, of one group.
template <class Words>
class Block {
 public:
  using Element = typename Words::Element;
  static_assert(kInt8Pixels % 8 == 0 && kInt8Pixels % 6 == 0);
  static_assert(kInt8MostPixels % kInt8Pixels == 0);

  // number: of the block; y: of the group's first channel; cells: memory of a patch.
  Block(const Convolution& c, const Int8Blocks& blocks, int64_t number, int group, int8_t* y,
        Element* cells)
      : Block(c, cells) {
    const conv_dims& d = c.d;
    const int64_t line = number / blocks.in_line();
    const int64_t start = number % blocks.in_line() * blocks.pixels;
    count_ = static_cast<int>(std::min<int64_t>(blocks.pixels, blocks.line - start));
    const bool is_row = blocks.line == d.q;
    const int64_t image = is_row ? line / d.p : line;
    const int row = is_row ? static_cast<int>(line % d.p) : static_cast<int>(start / d.q);
    const int column = static_cast<int>(start % d.q);
    const int64_t rows = (column + count_ - 1) / d.q + 1;
    // Several rows are copied as a whole.
    const int copied = rows == 1 ? column : 0;
    const int windows = rows == 1 ? count_ : d.q;
    copy(image, row, static_cast<int>(rows), copied, windows, group);
    const int64_t down = c.patch.rows.step * c.patch.pitch();
    const int64_t right = int64_t{c.patch.columns.step} * c.patch.channels;
    const Element* from = cells + (column - copied) * right;
    int8_t* to = y + image * c.layout.image + row * c.layout.row + column * c.layout.column;
    for (int m = 0, q = column; m < count_; q = 0) {
      const int in_row = std::min(d.q - q, count_ - m);
      for (int i = 0; i < in_row; ++i) {
        from_[m + i] = from + i * right;
        to_[m + i] = to + i * c.layout.column;
      }
      m += in_row;
      from += down - q * right;
      to += c.layout.row - q * c.layout.column;
    }
    // Register tiles read the last one again.
    const auto rounded = static_cast<int>(round_up(count_, kInt8Pixels));
    for (int m = count_; m < rounded; ++m) {
      from_[m] = from_[count_ - 1];
      to_[m] = to_[count_ - 1];
    }
  }

  // Of a row (is_int8_row).
  Block(const Convolution& c, int8_t* y, Element* cells) : Block(c, cells) {
    count_ = 1;
    Words::copy(cells, c.x, c.d.c, c.zero);
    fill(cells + c.d.c, Words::kUnit);
    from_[0] = cells;
    to_[0] = y;
  }

  // The results of kVectors vectors of channels from number `vector` on.
  template <int kVectors>
  HWY_NOINLINE void multiply(const Channels<Words>& channels, const Int8Scratch& s, int vector,
                             const int32_t* weights, const Finish& shared) const {
    constexpr int kRows = tile_rows(kVectors);
    const Finish finish = shared;
    if (count_ == 1) return tile<kVectors, 1>(channels, s, vector, weights, 0, finish);
    for (int m = 0; m < count_;) {
      if (count_ - m > kRows / 2) {
        tile<kVectors, kRows>(channels, s, vector, weights, m, finish);
        m += kRows;
      } else {
        tile<kVectors, kRows / 2>(channels, s, vector, weights, m, finish);
        m += kRows / 2;
      }
    }
  }

 private:
  Block(const Convolution& c, Element* cells)
      : c_(c),
        cells_(cells),
        taps_(c.patch.rows.taps),
        across_(c.patch.runs / std::max(c.d.r, 1)),
        down_(c.patch.rows.tap * c.patch.pitch()),
        right_(ptrdiff_t{c.patch.columns.tap} * c.patch.channels),
        length_(c.patch.length) {}

  // Without a call for few, as at the borders of an image.
  HWY_INLINE void fill(Element* to, int64_t count) const {
    const hn::CappedTag<Element, 8> few;
    const auto step = static_cast<int64_t>(hn::Lanes(few));
    const Element padding = Words::padding(c_.zero);
    int64_t i = 0;
    for (; i + step <= count; i += step) hn::StoreU(hn::Set(few, padding), few, to + i);
    for (; i < count; ++i) to[i] = padding;
  }

  // Copies what `rows` x `windows` neighbouring windows read.
  void copy(int64_t image, int row, int rows, int column, int windows, int group) const {
    const conv_dims& d = c_.d;
    const int channels = c_.patch.channels;
    const Int8Axis& across = c_.patch.columns;
    const int64_t top = int64_t{row} * d.stride_h - d.pad_top;
    const int64_t left = int64_t{column} * d.stride_w - d.pad_left;
    const int used_rows = c_.patch.rows.used(rows);
    const int used = across.used(windows);
    Element* to = cells_;
    for (int i = 0; i < used_rows; ++i, to += c_.patch.pitch()) {
      const int64_t h = top + c_.patch.rows.pixel(i);
      if (h < 0 || h >= d.h) {
        fill(to, int64_t{used} * channels);
        continue;
      }
      const int8_t* const line = c_.x + (image * d.h + h) * d.w * d.c + group * channels;
      if (d.groups == 1 && !across.for_each_window) {
        const int64_t begin = std::clamp<int64_t>(-left, 0, used);
        const int64_t end = std::clamp<int64_t>(d.w - left, begin, used);
        fill(to, begin * channels);
        Words::copy(to + begin * channels, line + (left + begin) * channels,
                    static_cast<int>((end - begin) * channels), c_.zero);
        fill(to + end * channels, (used - end) * channels);
        continue;
      }
      for (int j = 0; j < used; ++j) {
        const int64_t w = left + across.pixel(j);
        Element* const pixel = to + int64_t{j} * channels;
        if (w < 0 || w >= d.w) {
          fill(pixel, channels);
        } else {
          Words::copy(pixel, line + w * d.c, channels, c_.zero);
        }
      }
    }
    // The last word may read behind the last pixel, with weights of 0.
    if (used_rows > 0) {
      fill(to - c_.patch.pitch() + int64_t{used} * channels, Words::kUnit);
    }
  }

  // The pixels [m, m + kRows).
  template <int kVectors, int kRows>
  HWY_INLINE void tile(const Channels<Words>& channels, const Int8Scratch& s, int vector,
                       const int32_t* HWY_RESTRICT b, int m, const Finish& finish) const {
    const I32 d;
    VecI sums[kRows][kVectors];
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const VecI start = hn::Load(d, s.start + (vector + v) * lanes());
      THIMBLE_UNROLL
      for (int i = 0; i < kRows; ++i) sums[i][v] = start;
    }
    const Element* rows[kRows];
    THIMBLE_UNROLL
    for (int i = 0; i < kRows; ++i) rows[i] = from_[m + i];
    ptrdiff_t row = 0;
    for (int r = 0; r < taps_; ++r, row += down_) {
      ptrdiff_t run = row;
      for (int j = 0; j < across_; ++j, run += right_) {
        ptrdiff_t at = run;
        const ptrdiff_t end = at + length_;
        for (; at < end; at += Words::kUnit, b += kVectors * lanes()) {
          VecI weights[kVectors];
          THIMBLE_UNROLL
          for (int v = 0; v < kVectors; ++v) weights[v] = hn::Load(d, b + v * lanes());
          THIMBLE_UNROLL
          for (int i = 0; i < kRows; ++i) {
            int32_t word;
            std::memcpy(&word, rows[i] + at, sizeof(word));
            const VecI one = hn::Set(d, word);
            THIMBLE_UNROLL
            for (int v = 0; v < kVectors; ++v) sums[i][v] = Words::dot(sums[i][v], one, weights[v]);
          }
        }
      }
    }
    const int last = channels.channel(vector + kVectors - 1) - channels.channel(vector);
#if HWY_TARGET == HWY_AVX3
    if constexpr (kVectors == 1 && kRows % 4 == 0) {
      if (m + kRows <= count_ && !finish.goes_one_by_one()) {
        THIMBLE_UNROLL
        for (int i = 0; i < kRows; i += 4) {
          const VecI four[4] = {sums[i][0], sums[i + 1][0], sums[i + 2][0], sums[i + 3][0]};
          finish.store_pixels(four, to_ + m + i, channels.channel(vector), vector * lanes(),
                              channels.in_vector());
        }
        return;
      }
    }
#endif
    THIMBLE_UNROLL
    for (int i = 0; i < kRows; ++i) {
      if (m + i >= count_) break;
      int8_t* const to = to_[m + i] + channels.channel(vector);
#if HWY_TARGET == HWY_AVX3
      if (channels.in_vector() == lanes() && !finish.goes_one_by_one()) {
        finish.template store_vectors<kVectors>(sums[i], to, vector * lanes(), last);
        continue;
      }
#endif
      THIMBLE_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const int k = v + 1 < kVectors ? v * lanes() : last;
        finish.store(sums[i][v], to + k, (vector + v) * lanes(),
                     channels.first() + channels.channel(vector) + k, channels.in_vector());
      }
    }
  }

  const Convolution& c_;
  Element* cells_;
  int count_;
  int taps_;                              // rows of a window
  int across_;                            // runs of a row of the window
  ptrdiff_t down_, right_;                // between rows of a window, and between runs of a row
  ptrdiff_t length_;                      // of a run
  const Element* from_[kInt8MostPixels];  // the cells of each window
  int8_t* to_[kInt8MostPixels];           // its results
};

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

// A product of a row and prepared weights.
template <class Words>
void multiply_row(int8_t* y, const int8_t* x, const Int8Scratch& s, const conv_dims& d,
                  const Int8Layout& layout, const Int8Result& result) {
  const Int8Patch patch = int8_row_patch(d);
  const Channels<Words> channels(d, layout, patch, 0);
  const Convolution convolution{x, d, layout, patch, result.input_zero_point};
  const Block<Words> block(convolution, y, reinterpret_cast<typename Words::Element*>(s.pixels));
  multiply_panels(block, channels, s, 0, channels.panels(), Finish(result, s));
}

template <class Words>
void convolve(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias,
              const Int8Scratch& s, const conv_dims& d, const Int8Layout& layout,
              const Int8Result& result, parallel::ThreadPool& pool, Int8Part part) {
  if (part == Int8Part::pixels && is_int8_row(d)) {
    return multiply_row<Words>(y, x, s, d, layout, result);
  }
  const int pixels = int8_block_pixels(d, part != Int8Part::both);
  const Int8Patch patch = int8_patch(d, pixels);
  const Int8Blocks blocks = int8_blocks(d, pixels);
  const Convolution convolution{x, d, layout, patch, result.input_zero_point};
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
#if THIMBLE_INT8_QUADS
  if (words != Int8Words::pairs && int8_has_quads()) return run(Quads());
#else
  static_cast<void>(words);
#endif
  run(Pairs());
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::simd {
HWY_EXPORT(int8_conv_target);
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
    carve_int8_pixels(counter, d, threads, false, scratch);
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
  carve_int8_pixels(own, d, pool.threads(), false, scratch);
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
  carve_int8_pixels(counter, int8_flattened(d), threads, true, scratch);
  return counter.bytes();
}

void int8_conv_prepared(int8_t* y, const int8_t* x, const void* prepared, void* workspace,
                        const conv_dims& d, const Int8Result& result, parallel::ThreadPool& pool,
                        Int8Words words) {
  const conv_dims flat = int8_flattened(d);
  Int8Scratch scratch{};
  Workspace weights(const_cast<void*>(prepared));  // which is read only
  carve_int8_weights(weights, flat, unit_of(words), scratch);
  Workspace own(workspace);
  carve_int8_pixels(own, flat, pool.threads(), true, scratch);
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
