// The classes of generated data sets.
#pragma once

#include <thimble/data.h>

#include "data/random.h"

namespace thimble::data {

// The class, 0..9, of sample `index`: every ten samples in a row hold each class once, in an order
// drawn from the other arguments.
inline int balanced_label(uint64_t stream, uint64_t seed, Split split, int64_t index) {
  constexpr int kClasses = 10;
  int labels[kClasses] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  shuffle(std::span<int>(labels), Random(key_of(stream, seed, split, index / kClasses)));
  return labels[index % kClasses];
}

}  // namespace thimble::data
