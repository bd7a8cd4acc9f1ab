#include <thimble/error.h>
#include <thimble/ops/broadcast_to.h>
#include <thimble/ops/clip.h>
#include <thimble/ops/cosine_similarity.h>
#include <thimble/ops/div.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/norm.h>
#include <thimble/ops/sum.h>

#include <limits>

#include "ir/graph.h"
#include "ops/families/binary/broadcast.h"

THIMBLE_OP_FOLDER(cosine_similarity) { return {}; }

namespace thimble {

Value cosine_similarity(Value a, Value b, const CosineSimilarityOptions& options) {
  constexpr double kMost = std::numeric_limits<float>::max();
  const auto length = [&](Value x) {
    return clip(norm(x, {.axes = {options.axis}}), {.low = options.epsilon, .high = kMost});
  };
  if (a.shape() != b.shape()) {
    const std::optional<Shape> both = ops::common_shape(a.shape(), b.shape());
    if (!both) {
      throw Error("cosine_similarity", "expected shapes that broadcast, got " +
                                           to_string(a.shape()) + ", " + to_string(b.shape()));
    }
    a = broadcast_to(a, *both);
    b = broadcast_to(b, *both);
  }
  return sum(a * b, {.axes = {options.axis}}) / (length(a) * length(b));
}

}  // namespace thimble
