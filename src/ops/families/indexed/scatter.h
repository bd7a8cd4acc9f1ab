// The fast kernels of ops that write to the elements that an index names.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "ops/families/conv/row_tasks.h"
#include "ops/families/indexed/indexed_dims.h"

namespace thimble::ops {

// y = x (null: zeros), then write(element of y, number of the index) for every index in range. An
// element of y is written in the order of the indices. y may be x.
template <class Write>
void scatter_fast(float* y, const float* x, const int32_t* index, const indexed_dims& d,
                  parallel::ThreadPool& pool, const Write& write) {
  const auto start = [y, x](int64_t begin, int64_t count) {
    const auto bytes = static_cast<size_t>(count) * sizeof(float);
    if (x == nullptr) {
      std::memset(y + begin, 0, bytes);
    } else if (x != y) {
      std::memcpy(y + begin, x + begin, bytes);
    }
  };
  const auto size = static_cast<uint32_t>(d.size);  // an index below 0 is above it, too
  const int inner = d.walk.size[0];
  const int64_t runs = d.walk.n / inner;
  // If every run of the index has its own line of y, a line is started and written to while it is
  // in the cache.
  if (d.walk.stride[0] == 0 && d.step == 1 && runs * d.size == d.walk.other) {
    for_each_row(pool, runs, inner + d.size, [&](int64_t run) {
      start(run * d.size, d.size);
      float* const line = y + run * size;
      for (int64_t i = run * inner; i < (run + 1) * inner; ++i) {
        const auto place = static_cast<uint32_t>(index[i]);
        if (place < size) write(line[place], i);
      }
    });
    return;
  }
  constexpr int64_t kChunk = 1 << 14;
  pool.run(simd::divide_up(d.walk.other, kChunk), [&](int64_t chunk) {
    start(chunk * kChunk, std::min(kChunk, d.walk.other - chunk * kChunk));
  });
  // Tasks divide the outermost and the innermost axis, where they are not the one of the index:
  // then no two tasks write to one element. Strips of few columns would lie in few sets of the
  // cache.
  constexpr int64_t kTaskIndices = 1 << 14;
  constexpr int64_t kLeastColumns = 256;
  const int last = d.walk.count - 1;
  const int64_t outer = last > 0 && d.walk.stride[last] != 0 ? d.walk.size[last] : 1;
  const int64_t outer_runs = runs / outer;
  int64_t columns = inner;
  if (d.walk.stride[0] != 0 && outer_runs > 0) {
    columns = simd::round_up(std::max<int64_t>(1, kTaskIndices / outer_runs), kLeastColumns);
    columns = std::min<int64_t>(columns, inner);
  }
  const int64_t parts = simd::divide_up(inner, columns);
  const ptrdiff_t stride = d.walk.stride[0];
  const ptrdiff_t step = d.step;
  for_each_row(pool, outer * parts, outer_runs * columns, [&](int64_t task) {
    const int64_t first = task % parts * columns;
    const int64_t end = std::min<int64_t>(inner, first + columns);
    for (int64_t run = task / parts * outer_runs; run < (task / parts + 1) * outer_runs; ++run) {
      const int64_t begin = run * inner;
      float* const to = y + strided_offset(static_cast<int>(begin), &d.walk);
      for (int64_t i = first; i < end; ++i) {
        const auto place = static_cast<uint32_t>(index[begin + i]);
        if (place >= size) continue;
        write(to[i * stride + static_cast<ptrdiff_t>(place) * step], begin + i);
      }
    }
  });
}

}  // namespace thimble::ops
