#include <thimble/ops/coalesce_rows.h>

#include <algorithm>
#include <bit>

#include "ir/graph.h"
#include "ops/coalesce_rows/attrs.h"
#include "ops/coalesce_rows/dims.h"
#include "simd/workspace.h"

#define THIMBLE_OP coalesce_rows
#include "ops/families/builder/both_precisions.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::coalesce_rows_impl {
namespace {

// Columns per task: no two tasks write the same element.
constexpr int kTaskColumns = 32;

// Size of the hash table, which is at most half full.
int64_t table_size(int count) {
  return static_cast<int64_t>(std::bit_ceil(2 * static_cast<uint64_t>(std::max(1, count))));
}

// Scratch memory: the sum to which each given row belongs, the number of rows of each sum, and a
// hash table from indices to sums.
struct Slots {
  Slots(void* workspace, int count)
      : of_row(static_cast<int32_t*>(workspace)), times(of_row + count), table(times + count) {}
  static int64_t bytes(int count) {
    return static_cast<int64_t>(sizeof(int32_t)) * (2 * int64_t{count} + table_size(count));
  }
  int32_t* of_row;
  int32_t* times;
  int32_t* table;
};

// Fills the slots and the list of rows; returns the number of different rows.
int find_slots(const Slots& slots, int32_t* rows, const int32_t* indices, const coalesce_dims* d) {
  const auto mask = static_cast<uint32_t>(table_size(d->count) - 1);
  std::fill(slots.table, slots.table + mask + 1, -1);
  int used = 0;
  for (int i = 0; i < d->count; ++i) {
    slots.of_row[i] = -1;
    if (!coalesce_counts(d, indices[i])) continue;
    // Multiplication by 2^32 over the golden ratio spreads consecutive indices (Knuth, volume 3,
    // 6.4).
    uint32_t at = (static_cast<uint32_t>(indices[i]) * 2654435769U >> 7U) & mask;
    while (slots.table[at] >= 0 && rows[slots.table[at]] != indices[i]) at = (at + 1) & mask;
    if (slots.table[at] < 0) {
      rows[used] = indices[i];
      slots.times[used] = 0;
      slots.table[at] = used++;
    }
    slots.of_row[i] = slots.table[at];
    ++slots.times[slots.table[at]];
  }
  std::fill(rows + used, rows + d->count, -1);
  return used;
}

// Columns [begin, end) of the sums; ref.h says why they may overwrite dy.
void sum_columns(float* sums, const float* dy, const Slots& slots, int used, int begin, int end,
                 const coalesce_dims* d) {
  const ptrdiff_t width = d->width;
  int seen = 0;
  for (int i = 0; i < d->count; ++i) {
    const int slot = slots.of_row[i];
    if (slot < 0) continue;
    float* const to = sums + slot * width;
    const float* const from = dy + i * width;
    if (slot == seen) {
      ++seen;
      if (to != from) std::copy(from + begin, from + end, to + begin);
    } else {
      for (int c = begin; c < end; ++c) to[c] += from[c];
    }
  }
  for (int slot = 0; d->mean != 0 && slot < used; ++slot) {
    const auto times = static_cast<float>(slots.times[slot]);
    for (int c = begin; c < end; ++c) sums[slot * width + c] /= times;
  }
  for (int slot = used; slot < d->count; ++slot) {
    std::fill(sums + slot * width + begin, sums + slot * width + end, 0.0F);
  }
}

void coalesce_fast(float* sums, int32_t* rows, const float* dy, const int32_t* indices,
                   const coalesce_dims* d, void* workspace, parallel::ThreadPool& pool) {
  const Slots slots(workspace, d->count);
  const int used = find_slots(slots, rows, indices, d);
  pool.run(simd::divide_up(d->width, kTaskColumns), [&](int64_t task) {
    const int begin = static_cast<int>(task) * kTaskColumns;
    sum_columns(sums, dy, slots, used, begin, std::min(d->width, begin + kTaskColumns), d);
  });
}

Shape without_last(const Shape& shape) {
  std::vector<int64_t> dims = shape.dims();
  dims.pop_back();
  return Shape(std::move(dims));
}

const OpDef& coalesce_op() {
  static const OpDef def{
      .name = "coalesce_rows",
      .signature{
          .doc = "The rows of dy that have the same index, added up: a gradient [rows, D] that is "
                 "zero but for the rows with these numbers. Sums stand in the order in which their "
                 "indices appear, then zeros; their numbers likewise, then -1.",
          .inputs = {{"dy", "[the shape of indices, D]"},
                     {.name = "indices", .doc = "any shape", .types = DType::i32}},
          .outputs = {{"sums", "[number of indices, D]"}, {"rows", "[number of indices], i32"}},
          .attrs = ir::Attrs::schema_of<CoalesceRowsAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& attrs = c.attrs.as<CoalesceRowsAttrs>();
        c.require(c.shape(0).rank() >= 1 && without_last(c.shape(0)) == c.shape(1),
                  "expected dy of the shape of indices and one more dimension");
        c.require(attrs.rows >= 0, "expected a number of rows of at least 0");
        const int64_t count = c.shape(1).elements();
        return {{DType::f32, {count, c.shape(0)[-1]}}, {DType::i32, {count}}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const auto& attrs = c.attrs.as<CoalesceRowsAttrs>();
            return coalesce_dims{.count = static_cast<int>(c.out(1)[0]),
                                 .width = static_cast<int>(c.out(0)[1]),
                                 .rows = static_cast<int>(attrs.rows),
                                 .padding = static_cast<int>(attrs.padding_idx),
                                 .mean = attrs.mean ? 1 : 0};
          },
          .workspace = [](const ir::Params& params, int /*threads*/) -> int64_t {
            return Slots::bytes(params.as<coalesce_dims>().count);
          },
          .ref = ir::kernel_fn<&f32::coalesce_rows_ref>(),
          .ref64 = ir::kernel_fn<&f64::coalesce_rows_ref>(),
          .fast = ir::kernel_fn<&coalesce_fast>(),
      },
      .memory{.in_place = {{0, 0}}},
      .flow{.samples = [](const ir::SamplesContext&) { return ir::Samples::mixed; }},
  };
  return def;
}

const OpDef& dense_op() {
  static const OpDef def{
      .name = "dense_rows",
      .signature{
          .doc = "A gradient given by some of its rows as a whole tensor: zero in all the others.",
          .inputs = {{"sums", "[N, D]"},
                     {.name = "rows",
                      .doc = "[N]: their numbers, each once, then -1",
                      .types = DType::i32}},
          .outputs = {{"dense", "[rows, D]"}},
          .attrs = ir::Attrs::schema_of<DenseRowsAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const int64_t rows = c.attrs.as<DenseRowsAttrs>().rows;
        c.require_rank(0, 2);
        c.require(c.shape(1) == Shape{c.shape(0)[0]}, "expected the number of each row");
        c.require(rows >= 0, "expected a number of rows of at least 0");
        return {{DType::f32, {rows, c.shape(0)[1]}}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return coalesce_dims{.count = static_cast<int>(c.in(0)[0]),
                                 .width = static_cast<int>(c.in(0)[1]),
                                 .rows = static_cast<int>(c.out()[0]),
                                 .padding = -1,
                                 .mean = 0};
          },
          .ref = ir::kernel_fn<&f32::dense_rows_ref>(),
          .ref64 = ir::kernel_fn<&f64::dense_rows_ref>(),
      },
      .flow{.given_rows = {.sums = 0, .rows = 1}},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::coalesce_rows_impl

THIMBLE_OP_FOLDER(coalesce_rows) {
  static const OpDef* const defs[] = {&coalesce_op(), &dense_op()};
  return defs;
}

namespace thimble {

void describe(CoalesceRowsAttrs& a, ir::FieldVisitor& v) {
  v.field("rows", a.rows, "of the whole gradient");
  v.field("padding_idx", a.padding_idx, "rows of this index are left out; -1: none are");
  v.field("mean", a.mean, "means instead of sums");
}

RowGradient coalesce_rows(Value dy, Value indices, const CoalesceRowsAttrs& attrs) {
  const std::vector<Value> out =
      dy.graph().add(ops::coalesce_rows_impl::coalesce_op(), ir::Attrs::of(attrs),
                     std::vector<Value>{dy, indices});
  return {out[0], out[1]};
}

Value dense_rows(const RowGradient& gradient, int64_t rows) {
  return gradient.sums.graph().add1(ops::coalesce_rows_impl::dense_op(),
                                    ir::Attrs::of(DenseRowsAttrs{rows}),
                                    {gradient.sums, gradient.rows});
}

}  // namespace thimble
