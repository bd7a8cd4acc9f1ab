// Reductions over adjacent axes, which fast kernels treat as reductions of matrices.
#pragma once

#include <cstdint>

#include "ops/families/reduction/reduce_dims.h"

namespace thimble::ops {

// A tensor seen as [outer, rows, columns]; the rows are reduced.
struct Matrices {
  bool regular = false;  // false: kept and reduced axes are interleaved in another way
  int outer = 1, rows = 1, columns = 1;
};

inline Matrices matrices_of(const reduce_dims& d) {
  Matrices m;
  m.rows = d.reduced;
  if (d.over.count > 1) return m;
  const reduce_axes& kept = d.kept;
  const bool reduces_last = d.over.count == 0 || d.over.stride[0] == 1;
  m.columns = reduces_last || kept.count == 0 ? 1 : kept.size[0];
  const int outer_axis = m.columns > 1 ? 1 : 0;
  if (kept.count > outer_axis + 1) return m;
  if (kept.count == outer_axis + 1 &&
      kept.stride[outer_axis] != static_cast<int64_t>(m.rows) * m.columns) {
    return m;
  }
  m.regular = true;
  m.outer = m.columns == 0 ? 0 : d.outputs / m.columns;
  return m;
}

}  // namespace thimble::ops
