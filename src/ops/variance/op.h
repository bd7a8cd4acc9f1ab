#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <vector>

namespace thimble {

struct VarianceOptions {
  std::vector<int64_t> axes;  // none: all; negative ones count from the last
  bool keepdims = false;      // keep them with size 1
  double correction =
      1.0;  // subtracted from the number of elements: 1 for a sample, 0 for a population
};
void describe(VarianceOptions& options, ir::FieldVisitor& visitor);

// The variance over axes: the sum of (x - mean)^2, divided by the number of elements less the
// correction. x: at most 8 dimensions, f32. NaN where nothing is left to divide by. Equal to
// torch.var. Throws Error for axes that do not exist.
Value variance(Value x, const VarianceOptions& options = {});

// The square root of the variance; its gradient is 0 where it is 0. Equal to torch.std.
Value standard_deviation(Value x, const VarianceOptions& options = {});

}  // namespace thimble
