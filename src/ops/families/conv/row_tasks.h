// Splits the rows of images among threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "parallel/thread_pool.h"
#include "simd/workspace.h"

namespace thimble::ops {

// Calls row(i) for every row. A task takes several rows; how many depends on sizes alone. values:
// the number of values that a row reads or writes.
template <class F>
void for_each_row(parallel::ThreadPool& pool, int64_t rows, int64_t values, const F& row) {
  constexpr int64_t kTaskValues = 1 << 14;
  const int64_t each = std::max<int64_t>(1, kTaskValues / std::max<int64_t>(1, values));
  pool.run(simd::divide_up(rows, each), [&](int64_t task) {
    const int64_t end = std::min(rows, (task + 1) * each);
    for (int64_t i = task * each; i < end; ++i) row(i);
  });
}

}  // namespace thimble::ops
