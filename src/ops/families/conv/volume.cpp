#include "ops/families/conv/volume.h"

#include <fmt/format.h>
#include <thimble/error.h>
#include <thimble/ops/add.h>
#include <thimble/ops/gather.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/remainder.h>
#include <thimble/ops/reshape.h>

#include "ir/own_constant.h"

namespace thimble::ops {
namespace {

constexpr int64_t kMostCells = int64_t{1} << 20;

void check_numbers(const char* op, const char* setting, const std::vector<int64_t>& given,
                   int64_t least) {
  for (const int64_t number : given) {
    if (number >= least && number <= kMostCells) continue;
    throw Error(op, fmt::format("expected {} of at least {} and at most {}, got {}", setting, least,
                                kMostCells, number));
  }
}

// An i32 constant: f32 holds no odd number above 2^24.
Value whole(Value like, int64_t of) {
  return ir::own_constant(like.graph(), fmt::format("@whole {}", of),
                          Array(std::vector{static_cast<int32_t>(of)}, {}));
}

}  // namespace

Triple triple(const char* op, const char* setting, const std::vector<int64_t>& given,
              int64_t least) {
  check_numbers(op, setting, given, least);
  if (given.size() == 1) return {given[0], given[0], given[0]};
  if (given.size() == 3) return {given[0], given[1], given[2]};
  throw Error(op,
              fmt::format("expected {} as one number, or three for depth, height and width, got "
                          "{} numbers",
                          setting, given.size()));
}

VolumePadding volume_padding(const char* op, const std::vector<int64_t>& given) {
  check_numbers(op, "padding", given, 0);
  if (given.size() == 6) return {given[0], given[1], {given[2], given[3], given[4], given[5]}};
  if (given.size() != 1 && given.size() != 3) {
    throw Error(op,
                fmt::format("expected padding as one number, three for depth, height and width, "
                            "or six (front, back, top, bottom, left, right), got {} numbers",
                            given.size()));
  }
  const Triple all = triple(op, "padding", given, 0);
  return {all.d, all.d, {all.h, all.w}};
}

void check_volume(const char* op, Value x) {
  if (x.shape().rank() == 5 && x.shape()[4] >= 1) return;
  throw Error(op, fmt::format("expected volumes [N, D, H, W, C], got {}", to_string(x.shape())));
}

Value planes_of(Value volume) {
  const Shape& s = volume.shape();
  return reshape(volume, {-1, s[2], s[3], s[4]});
}

Value volume_of(Value planes, int64_t depth) {
  const Shape& s = planes.shape();
  return reshape(planes, {-1, depth, s[1], s[2], s[3]});
}

Value columns_of(Value planes, int64_t depth) {
  const Shape& s = planes.shape();
  return reshape(planes, {-1, depth, s[1] * s[2], s[3]});
}

Value volume_of_columns(Value columns, const Shape& planes) {
  return reshape(columns, {-1, columns.shape()[1], planes[1], planes[2], planes[3]});
}

Value lines_of(Value planes, int64_t depth) {
  const Shape& s = planes.shape();
  return reshape(planes, {-1, depth, 1, s[1] * s[2] * s[3]});
}

Value volume_index(Value planes, Value columns, const Shape& volume) {
  // The index along the depth counts pooled pixels of all planes, which locates the plane's own
  // index.
  const Shape plane = planes.shape();
  const int64_t pixels = plane[1] * plane[2];
  const int64_t depth = columns.shape()[1];
  const Value at = reshape(columns, {-1, depth * pixels, plane[3]});
  const Value own = gather(reshape(planes, {-1, volume[1] * pixels, plane[3]}), at, {.axis = 1});
  const Value plane_number = floor_divide(at, whole(planes, pixels));
  const Value index = add(own, mul(plane_number, whole(planes, volume[2] * volume[3])));
  return reshape(index, {-1, depth, plane[1], plane[2], plane[3]});
}

}  // namespace thimble::ops
