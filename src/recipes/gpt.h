// The recipe gpt in any depth.
#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble::models {

// The model of the recipe with so many blocks.
[[nodiscard]] Graph gpt_graph(int64_t layers);

}  // namespace thimble::models
