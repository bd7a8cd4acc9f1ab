#pragma once

#include <thimble/graph.h>

namespace thimble {

struct EluAttrs {
  double alpha = 1.0;  // minus the limit for small x; of any sign
};
void describe(EluAttrs& attrs, ir::FieldVisitor& visitor);

// y = x for x > 0, else alpha * (exp(x) - 1), element by element. x: any shape, f32.
// Source: Clevert et al., "Fast and Accurate Deep Network Learning by ELUs", 2016.
Value elu(Value x, const EluAttrs& attrs = {});

}  // namespace thimble
