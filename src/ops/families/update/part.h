// Walks through the part of a parameter that is trained (ir::TrainedPart), for kernels of updates.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "ir/op_def.h"

namespace thimble::ops {

// The parameter is [outer, size, inner] around the axis, the part [outer, count, inner].
struct PartDims {
  int64_t size;
  int64_t inner;
  int64_t count;  // of indices, which stand behind the kernel's parameters; 0: the whole parameter
};

[[nodiscard]] inline PartDims part_dims(const Shape& param, const ir::TrainedPart& part) {
  if (part.indices.empty()) return {1, 1, 0};
  PartDims d{param[part.axis], 1, static_cast<int64_t>(part.indices.size())};
  for (int axis = part.axis + 1; axis < param.rank(); ++axis) d.inner *= param[axis];
  return d;
}

// The parameters of a kernel, followed by the indices.
template <class Params>
[[nodiscard]] ir::Params with_indices(const Params& params, const std::vector<int64_t>& indices) {
  static_assert(sizeof(Params) % alignof(int32_t) == 0);
  std::vector<std::byte> bytes(sizeof(Params) + indices.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), &params, sizeof(Params));
  const std::vector<int32_t> narrow(indices.begin(), indices.end());
  if (!narrow.empty()) {
    std::memcpy(bytes.data() + sizeof(Params), narrow.data(), narrow.size() * sizeof(int32_t));
  }
  return ir::Params::of_bytes(bytes);
}

// places[i] = the place in the parameter of element first + i of the part. params: as with_indices
// makes them.
template <class Params>
void places_of(const Params& params, const PartDims& d, int64_t first, std::span<int64_t> places) {
  if (d.count == 0) {
    for (size_t i = 0; i < places.size(); ++i) places[i] = first + static_cast<int64_t>(i);
    return;
  }
  const auto* const indices = reinterpret_cast<const int32_t*>(&params + 1);
  int64_t at = first % d.inner;
  int64_t index = first / d.inner % d.count;
  int64_t outer = first / d.inner / d.count;
  for (int64_t& place : places) {
    place = (outer * d.size + indices[index]) * d.inner + at;
    if (++at < d.inner) continue;
    at = 0;
    if (++index < d.count) continue;
    index = 0;
    ++outer;
  }
}

// Fails unless the part is one of a parameter of this shape.
inline void require_part(const ir::InferContext& c, const Shape& param,
                         const ir::TrainedPart& part) {
  if (part.indices.empty()) return;
  c.require(part.axis >= 0 && part.axis < param.rank(), "the axis of the part is none of param");
  int64_t next = 0;  // the least that the next index may be
  for (const int64_t index : part.indices) {
    c.require(index >= next && index < param[part.axis],
              "the indices of the part must rise and lie within its axis");
    next = index + 1;
  }
}

}  // namespace thimble::ops
