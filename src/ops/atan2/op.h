#pragma once

#include <thimble/graph.h>

namespace thimble {

// The angle of the point (b, a), from -pi to pi, element by element: tan(y) = a / b, in the
// quadrant of the signs; as C's atan2, with its values for zeros and infinities. a, b: f32, at most
// 8 dimensions, broadcast as in NumPy. Gradients: b / (a^2 + b^2) and -a / (a^2 + b^2), 0 at the
// origin. Equal to torch.atan2. Throws Error where shapes do not fit.
Value atan2(Value a, Value b);

}  // namespace thimble
