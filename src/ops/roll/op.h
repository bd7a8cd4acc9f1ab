#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <vector>

namespace thimble::ir {
class FieldVisitor;
}

namespace thimble {

struct RollOptions {
  std::vector<int64_t> shifts;  // places that elements move up an axis; below 0: down
  std::vector<int64_t> axes;    // one for each shift; none: x is taken as one long vector
};
void describe(RollOptions& options, ir::FieldVisitor& visitor);

// x with its elements moved along axes; those that leave at one end come in at the other. x: any
// type but packed bits; y: the shape of x. Equal to torch.roll and numpy.roll. Throws Error unless
// there is a shift for each axis, or one shift and no axis.
Value roll(Value x, const RollOptions& options);

// roll along one axis.
Value roll(Value x, int64_t shift, int64_t axis);

}  // namespace thimble
