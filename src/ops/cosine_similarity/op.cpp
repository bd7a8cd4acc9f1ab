#include <thimble/error.h>
#include <thimble/ops/broadcast_to.h>
#include <thimble/ops/clip.h>
#include <thimble/ops/cosine_similarity.h>
#include <thimble/ops/div.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/norm.h>
#include <thimble/ops/sum.h>

#include <algorithm>
#include <limits>

#include "ir/graph.h"

THIMBLE_OP_FOLDER(cosine_similarity) { return {}; }

namespace thimble {

namespace {

Shape common_shape(const Shape& a, const Shape& b) {
  std::vector<int64_t> dims(static_cast<size_t>(std::max(a.rank(), b.rank())));
  for (int i = 1; i <= static_cast<int>(dims.size()); ++i) {
    const int64_t of_a = i <= a.rank() ? a[-i] : 1;
    const int64_t of_b = i <= b.rank() ? b[-i] : 1;
    if (of_a != of_b && of_a != 1 && of_b != 1) {
      throw Error("cosine_similarity",
                  "expected shapes that broadcast, got " + to_string(a) + ", " + to_string(b));
    }
    dims[dims.size() - static_cast<size_t>(i)] = of_a == 1 ? of_b : of_a;
  }
  return Shape(std::move(dims));
}

}  // namespace

Value cosine_similarity(Value a, Value b, const CosineSimilarityOptions& options) {
  constexpr double kMost = std::numeric_limits<float>::max();
  const auto length = [&](Value x) {
    return clip(norm(x, {.axes = {options.axis}}), {.low = options.epsilon, .high = kMost});
  };
  if (a.shape() != b.shape()) {
    const Shape both = common_shape(a.shape(), b.shape());
    a = broadcast_to(a, both);
    b = broadcast_to(b, both);
  }
  return sum(a * b, {.axes = {options.axis}}) / (length(a) * length(b));
}

}  // namespace thimble
