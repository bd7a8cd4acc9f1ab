#include <fmt/format.h>
#include <thimble/ops/roll.h>

#include <algorithm>

#include "ir/graph.h"
#include "ops/families/conv/row_tasks.h"
#include "ops/families/move/copy.h"
#include "ops/families/reduction/axes.h"
#include "ops/roll/dims.h"

#define THIMBLE_OP roll
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::roll_impl {
namespace {

void fast(unsigned char* y, const unsigned char* x, const roll_dims* d,
          parallel::ThreadPool& pool) {
  if (copy_is_packed(d->element)) return f32::roll_ref(y, x, d);  // rows may share a byte
  const int64_t row_elements = int64_t{d->size[d->count - 1]} * d->run;
  for_each_row(pool, d->rows, row_elements,
               [&](int64_t row) { f32::roll_part(y, x, static_cast<int>(row), d); });
}

// The sizes along which a tensor is rolled: those of its axes, or of all of it as one vector.
std::vector<int64_t> sizes_of(const RollOptions& options, const Shape& x) {
  return options.axes.empty() ? std::vector<int64_t>{x.elements()} : x.dims();
}

// Shifts along these sizes, each from 0 to below its size.
std::vector<int64_t> shifts_of(const RollOptions& options, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> shifts(sizes.size(), 0);
  const auto rank = static_cast<int64_t>(sizes.size());
  for (size_t i = 0; i < options.shifts.size(); ++i) {
    int64_t axis = options.axes.empty() ? 0 : options.axes[i];
    if (axis < 0) axis += rank;
    const int64_t size = std::max<int64_t>(1, sizes[static_cast<size_t>(axis)]);
    int64_t& shift = shifts[static_cast<size_t>(axis)];
    shift = (shift + options.shifts[i] % size + size) % size;
  }
  return shifts;
}

ir::Params params(const ir::KernelContext& c) {
  const auto& options = c.attrs.as<RollOptions>();
  const Shape& x = c.in(0);
  const std::vector<int64_t> sizes = sizes_of(options, x);
  const std::vector<int64_t> shifts = shifts_of(options, sizes);
  roll_dims d{};
  d.element = copy_element_of(c.outputs[0].dtype);
  d.run = 1;
  d.rows = x.elements() == 0 ? 0 : 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int size = static_cast<int>(sizes[i]);
    const int shift = static_cast<int>(shifts[i]);
    if (shift == 0 && d.count > 0 && d.shift[d.count - 1] == 0) {
      d.size[d.count - 1] *= size;
    } else {
      d.size[d.count] = size;
      d.shift[d.count] = shift;
      ++d.count;
    }
  }
  if (d.count > 1 && d.shift[d.count - 1] == 0) d.run = d.size[--d.count];
  if (d.count == 0) d.size[d.count++] = 1;
  for (int axis = 0; axis + 1 < d.count; ++axis) d.rows *= d.size[axis];
  return d;
}

void check(const ir::InferContext& c, const RollOptions& options) {
  const int rank = c.shape(0).rank();
  c.require(rank <= kMaxRank, fmt::format("expected at most {} dimensions", kMaxRank));
  if (options.axes.empty()) {
    c.require(options.shifts.size() == 1,
              fmt::format("expected one shift where there are no axes, got {}; name an axis for "
                          "each",
                          options.shifts.size()));
    return;
  }
  c.require(options.shifts.size() == options.axes.size(),
            fmt::format("expected a shift for each axis, got {} shifts and {} axes",
                        options.shifts.size(), options.axes.size()));
  for (const int64_t axis : options.axes) checked_axis(c, axis, rank);
}

const OpDef& roll_op() {
  static const OpDef def{
      .name = "roll",
      .signature{
          .doc = "x with its elements moved along axes; those that leave at one end come in at the "
                 "other.",
          .example = "auto y = roll(x, {.shifts = {1}, .axes = {0}});",
          .inputs = {{"x", "at most 8 dimensions"}},
          .outputs = {{"y", "the shape of x"}},
          .attrs = ir::Attrs::schema_of<RollOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check(c, c.attrs.as<RollOptions>());
        return {moved_type(c, 0, c.shape(0))};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        RollOptions back = c.attrs.as<RollOptions>();
        for (int64_t& shift : back.shifts) shift = -shift;
        return {roll(c.grad(), back)};
      }},
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::roll_ref>(),
          .ref64 = ir::kernel_fn<&f64::roll_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .any_type = true,
      },
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  const auto& options = c.attrs.as<RollOptions>();
                  // Places that are none of a whole batch may be some of a part of it.
                  bool first = options.axes.empty();
                  for (size_t i = 0; i < options.axes.size(); ++i) {
                    const int64_t axis = options.axes[i];
                    const bool is_first = axis == 0 || axis == -c.in(0).rank();
                    first = first || (is_first && options.shifts[i] != 0);
                  }
                  return first ? ir::Samples::mixed : ir::Samples::independent;
                }},
  };
  return def;
}

// Shifts that attributes cannot hold without the rounds that they go through; along the open batch
// they stay as they are.
void shorten(RollOptions& options, const Shape& x) {
  const std::vector<int64_t> sizes = sizes_of(options, x);
  const auto rank = static_cast<int64_t>(sizes.size());
  for (size_t i = 0; i < options.shifts.size(); ++i) {
    if (ir::is_in_range(options.shifts[i])) continue;
    int64_t axis = options.axes.empty() ? 0 : i < options.axes.size() ? options.axes[i] : rank;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) continue;  // the shape rule refuses it
    const int64_t size = std::max<int64_t>(1, sizes[static_cast<size_t>(axis)]);
    if (ir::with_batch(size, 1) == size) options.shifts[i] %= size;
  }
}

}  // namespace
}  // namespace thimble::ops::roll_impl

THIMBLE_OP_FOLDER(roll) {
  static const OpDef* const defs[] = {&roll_op()};
  return defs;
}

namespace thimble {

void describe(RollOptions& options, ir::FieldVisitor& visitor) {
  visitor.field("shifts", options.shifts, "places that elements move up an axis; below 0: down");
  visitor.field("axes", options.axes, "one for each shift; none: x is taken as one long vector");
}

Value roll(Value x, const RollOptions& options) {
  RollOptions short_ways = options;
  ops::roll_impl::shorten(short_ways, x.shape());
  return x.graph().add1(ops::roll_impl::roll_op(), ir::Attrs::of(short_ways), {x});
}

Value roll(Value x, int64_t shift, int64_t axis) {
  return roll(x, {.shifts = {shift}, .axes = {axis}});
}

}  // namespace thimble
