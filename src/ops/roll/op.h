#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <vector>

namespace thimble {

struct RollOptions {
  std::vector<int64_t> shifts;  // positions by which elements move up the axis; below 0: down
  std::vector<int64_t> axes;    // one for each shift; none: x is treated as one long vector
};
void describe(RollOptions& options, ir::FieldVisitor& visitor);

// x with its elements shifted along axes; elements that leave at one end enter at the other. x: any
// type; y: the shape of x. Equal to torch.roll and numpy.roll. Throws Error
// unless there is a shift for each axis, or one shift and no axis.
Value roll(Value x, const RollOptions& options);

// roll along one axis.
Value roll(Value x, int64_t shift, int64_t axis);

}  // namespace thimble
