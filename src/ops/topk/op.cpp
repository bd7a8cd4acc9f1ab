#include <thimble/ops/scatter_add.h>
#include <thimble/ops/topk.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "ir/function_def.h"
#include "ir/graph.h"
#include "ops/families/kernel/integers.h"
#include "ops/families/reduction/axes.h"
#include "ops/topk/dims.h"

#define THIMBLE_OP topk
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"
#include "ops/families/move/scales.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::topk_impl {
namespace {

// An element as an integer that sorts as topk_before does: the bits of its value, mapped to grow
// with the value, above the bits of its index.
uint64_t key_of(float value, int index, bool largest) {
  uint32_t bits = 0;
  const float unsigned_zero = value + 0.0F;
  std::memcpy(&bits, &unsigned_zero, sizeof(bits));
  uint32_t rising = (bits >> 31U) != 0 ? ~bits : bits | 0x80000000U;
  if (value != value) rising = 0xFFFFFFFFU;
  return uint64_t{largest ? ~rising : rising} << 32U | static_cast<uint32_t>(index);
}

// Whether a value may come before the last kept one.
bool may_enter(float value, float last, bool largest) {
  return largest ? !(value <= last) : value < last || last != last;
}

constexpr int kFew = 32;

// Sorts keys by their values; equal values keep their order. other: room for as many keys. Returns
// the one of both that then holds the result. Radix sort from the lowest of four bytes on (Knuth,
// "The Art of Computer Programming" 3, 5.2.5).
uint64_t* sorted(uint64_t* keys, uint64_t* other, int size) {
  constexpr int kBytes = 4;
  std::array<std::array<int, 256>, kBytes> places{};
  for (int i = 0; i < size; ++i) {
    for (int byte = 0; byte < kBytes; ++byte)
      ++places[static_cast<size_t>(byte)][keys[i] >> (32 + 8 * byte) & 0xFFU];
  }
  for (int byte = 0; byte < kBytes; ++byte) {
    std::array<int, 256>& place = places[static_cast<size_t>(byte)];
    const int shift = 32 + 8 * byte;
    if (place[keys[0] >> shift & 0xFFU] == size) continue;
    std::exclusive_scan(place.begin(), place.end(), place.begin(), 0);
    for (int i = 0; i < size; ++i) other[place[keys[i] >> shift & 0xFFU]++] = keys[i];
    std::swap(keys, other);
  }
  return keys;
}

// The first k of all keys of a line, in order.
uint64_t* first_of(uint64_t* keys, int size, int k) {
  constexpr int kShort = 64;
  if (size >= kShort && k > size / 8) return sorted(keys, keys + size, size);
  if (k < size) std::nth_element(keys, keys + k, keys + size);
  std::sort(keys, keys + k);
  return keys;
}

// The keys of the first k elements of a line, in order: a few are kept sorted while the line is
// read; of many all keys are sorted, or parted and then sorted. keys: see keys_of.
uint64_t* select(uint64_t* keys, const float* line, int64_t step, int size, int k, bool largest) {
  if (k == 0) return keys;
  if (k > kFew) {
    for (int i = 0; i < size; ++i) keys[i] = key_of(line[i * step], i, largest);
    return first_of(keys, size, k);
  }
  for (int i = 0; i < k; ++i) keys[i] = key_of(line[i * step], i, largest);
  std::sort(keys, keys + k);
  float last = line[static_cast<int64_t>(keys[k - 1] & 0xFFFFFFFFU) * step];
  for (int i = k; i < size; ++i) {
    if (!may_enter(line[i * step], last, largest)) continue;
    const uint64_t key = key_of(line[i * step], i, largest);
    if (key > keys[k - 1]) continue;
    int at = k - 1;
    for (; at > 0 && keys[at - 1] > key; --at) keys[at] = keys[at - 1];
    keys[at] = key;
    last = line[static_cast<int64_t>(keys[k - 1] & 0xFFFFFFFFU) * step];
  }
  return keys;
}

// Keys that a thread has room for: the few that it keeps, or all of a line twice.
int64_t keys_of(const topk_dims& d) { return d.k > kFew ? int64_t{2} * d.along.size : kFew; }

// workspace: the keys of every thread.
void fast(float* values, int32_t* indices, const float* x, void* workspace, const topk_dims* d,
          parallel::ThreadPool& pool) {
  const int64_t inner = d->along.inner;
  pool.run_with_worker(d->along.outer * inner, [&](int64_t row, int worker) {
    const float* line = x + row / inner * d->along.size * inner + row % inner;
    uint64_t* const room = static_cast<uint64_t*>(workspace) + worker * keys_of(*d);
    const uint64_t* const keys = select(room, line, inner, d->along.size, d->k, d->largest != 0);
    const int64_t to = row / inner * d->k * inner + row % inner;
    for (int rank = 0; rank < d->k; ++rank) {
      const auto index = static_cast<int32_t>(keys[rank] & 0xFFFFFFFFU);
      values[to + rank * inner] = line[index * inner];
      indices[to + rank * inner] = index;
    }
  });
}

// As fast, of integers: their order needs no mapped bits, and NaN is none of them.
template <class T>
void fast_of_integers(T* values, int32_t* indices, const T* x, void* workspace, const topk_dims* d,
                      parallel::ThreadPool& pool) {
  const int64_t inner = d->along.inner;
  const int64_t size = d->along.size;
  pool.run_with_worker(d->along.outer * inner, [&](int64_t row, int worker) {
    const T* line = x + row / inner * size * inner + row % inner;
    int32_t* const places = static_cast<int32_t*>(workspace) + worker * size;
    std::iota(places, places + size, 0);
    std::partial_sort(places, places + d->k, places + size, [&](int32_t i, int32_t j) {
      const T a = line[i * inner];
      const T b = line[j * inner];
      return a == b ? i < j : d->largest != 0 ? a > b : a < b;
    });
    const int64_t to = row / inner * d->k * inner + row % inner;
    for (int rank = 0; rank < d->k; ++rank) {
      values[to + rank * inner] = line[places[rank] * inner];
      indices[to + rank * inner] = places[rank];
    }
  });
}

std::vector<ir::TypedKernels> integer_kernels() {
  std::vector<ir::TypedKernels> all = INTEGER_KERNELS(topk);
  const ir::KernelFn fast[] = {
      ir::kernel_fn<&fast_of_integers<int8_t>>(),  ir::kernel_fn<&fast_of_integers<int16_t>>(),
      ir::kernel_fn<&fast_of_integers<int32_t>>(), ir::kernel_fn<&fast_of_integers<int64_t>>(),
      ir::kernel_fn<&fast_of_integers<uint8_t>>(), ir::kernel_fn<&fast_of_integers<uint32_t>>()};
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].fast = fast[i];
    all[i].workspace = [](const ir::Params& p, int threads) {
      return int64_t{4} * threads * p.as<topk_dims>().along.size;
    };
  }
  return all;
}

ir::Params params(const ir::KernelContext& c) {
  const auto& options = c.attrs.as<TopkOptions>();
  topk_dims d{};
  d.along = axis_dims_of(c.in(0), options.axis);
  d.k = static_cast<int>(options.k);
  d.largest = options.largest ? 1 : 0;
  return d;
}

const OpDef& topk_op() {
  static const OpDef def{
      .name = "topk",
      .signature{
          .doc = "The k largest (or smallest) elements along an axis, the best first, and where "
                 "they stood; of equal ones the first come first.",
          .example = "auto best = topk(scores, {.k = 5}).indices;",
          .inputs = {{"x", "any shape of at least one dimension"}},
          .outputs = {{"values", "x with k elements of the axis"}, {"indices", "likewise, i32"}},
          .attrs = ir::Attrs::schema_of<TopkOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& options = c.attrs.as<TopkOptions>();
        std::vector<int64_t> dims = c.shape(0).dims();
        const int axis = checked_axis(c, options.axis, c.shape(0).rank());
        int64_t& size = dims[static_cast<size_t>(axis)];
        c.require(options.k >= 0, "expected k of at least 0");
        c.require(options.k <= size, "expected k of at most the size of the axis");
        size = options.k;
        return {moved_type(c, 0, Shape(dims)), {DType::i32, Shape(dims)}};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        if (!c.grad()) return {};
        const GatherGradAttrs attrs{c.attrs.as<TopkOptions>().axis, c.input(0).shape()};
        return {gather_grad(c.grad(), c.output(1), attrs)};
      }},
      .kernels{
          .params = params,
          .workspace =
              [](const ir::Params& p, int threads) {
                return int64_t{8} * threads * keys_of(p.as<topk_dims>());
              },
          .ref = ir::kernel_fn<&f32::topk_ref>(),
          .ref64 = ir::kernel_fn<&f64::topk_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .typed = integer_kernels(),
      },
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  return samples_along(c, c.attrs.as<TopkOptions>().axis);
                }},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::topk_impl

THIMBLE_OP_FOLDER(topk) {
  static const OpDef* const defs[] = {&topk_op()};
  return defs;
}

namespace thimble {

void describe(TopkOptions& a, ir::FieldVisitor& v) {
  v.field("k", a.k, "how many, at most the size of the axis");
  v.field("axis", a.axis, "along which they are chosen; negative counts from the last");
  v.field("largest", a.largest, "the largest, else the smallest");
}
Topk topk(Value x, const TopkOptions& options) {
  const Value inputs[] = {x};
  const std::vector<Value> out =
      x.graph().add(ops::topk_impl::topk_op(), ir::Attrs::of(options), inputs);
  return {out[0], out[1]};
}
}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(topk) {
  static const FunctionDef topk_function{
      .name = "topk",
      .doc =
          "The k largest (or smallest) elements along an axis, the best first, and where they "
          "stood.",
      .inputs = {{"x", "any shape of at least one dimension"}},
      .outputs = {{"values", "x with k elements of the axis"}, {"indices", "likewise, i32"}},
      .options = ir::OptionSchema::of<TopkOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const Topk best = topk(in[0], options_as<TopkOptions>(options));
        return {best.values, best.indices};
      },
  };
  static const FunctionDef* const defs[] = {&topk_function};
  return defs;
}
