#pragma once
// First-fit in the order given.
#include <cstdint>
#include <span>
#include <vector>
namespace thimble::plan {
struct Buffer {
  int64_t lower, upper, size, alignment = 1;
};
struct Packing {
  std::vector<int64_t> offsets;
  int64_t peak_bytes = 0, lower_bound_bytes = 0;
};
struct PackOptions {};
inline Packing pack(std::span<const Buffer> b, const PackOptions&) {
  Packing p;
  p.offsets.resize(b.size());
  for (size_t i = 0; i < b.size(); ++i) {
    int64_t at = 0;
    bool moved = true;
    while (moved) {
      moved = false;
      for (size_t j = 0; j < i; ++j)
        if (b[j].lower < b[i].upper && b[i].lower < b[j].upper && at < p.offsets[j] + b[j].size &&
            p.offsets[j] < at + b[i].size) {
          at = (p.offsets[j] + b[j].size + b[i].alignment - 1) / b[i].alignment * b[i].alignment;
          moved = true;
        }
    }
    p.offsets[i] = at;
    p.peak_bytes = std::max(p.peak_bytes, at + b[i].size);
  }
  return p;
}
}  // namespace thimble::plan
