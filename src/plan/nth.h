// Elements of lists by the numbers of nodes and values, which are signed.
#pragma once

#include <concepts>
#include <cstddef>

namespace thimble::plan {

// list[index]. The index must not be negative.
template <class List, std::integral Index>
[[nodiscard]] decltype(auto) nth(List& list, Index index) {
  return list[static_cast<size_t>(index)];
}

}  // namespace thimble::plan
