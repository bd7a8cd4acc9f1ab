#include "ir/sizes.h"

#include <fmt/format.h>

#include "ir/attrs.h"

namespace thimble::ir {

int64_t bounded_elements(const Shape& shape) {
  int64_t n = 1;
  for (const int64_t dim : shape.dims()) n = bounded_product(n, dim);
  return n;
}

void check_size(const std::string& where, const TensorType& type, bool is_open) {
  if (type.shape.rank() > kMostRank) {
    throw Error(where,
                fmt::format("a tensor has {} dimensions; at most {} are possible: reshape it",
                            type.shape.rank(), kMostRank));
  }
  const auto too_large = [&] {
    throw Error(where, fmt::format("tensor {} has more than {} elements; make it smaller",
                                   thimble::to_string(type.shape), kMostElements));
  };
  int64_t n = 1;
  for (const int64_t dim : type.shape.dims()) {
    if (dim < 0) {
      throw Error(where, "a dimension is negative in " + thimble::to_string(type.shape));
    }
    const int64_t size = is_open ? with_batch(dim, 1) : dim;
    if (size > kMostElements || n * size > kMostElements) too_large();
    n *= size;
  }
  // An open batch multiplies them.
  if (bounded_elements(type.shape) == kMostProduct) too_large();
}

}  // namespace thimble::ir
