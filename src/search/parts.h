// The parts of a network that a sparse update may train.
#pragma once

#include <thimble/scheme_search.h>

#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::search {

// A layer with weights.
struct Part {
  std::string name;
  int64_t channels = 0;  // of its input, of which some can be chosen; 0: all or nothing
  int64_t biases = 0;    // layers with biases from this one to the end
};

struct Parts {
  std::vector<Part> layers;  // all but the last one, as they run
  std::string last;          // the last layer with weights
  int64_t last_biases = 0;   // layers with biases from it to the end
  int64_t biases = 0;        // layers with biases
};

// Throws Error where no layer with a name has weights.
[[nodiscard]] Parts parts_of(const ir::Graph& graph);

// Of the last layer, the biases of so many layers (at least those from the last one on).
[[nodiscard]] UpdateScheme scheme_of(const Parts& parts, int64_t biases);

// Whether so much of a layer can be trained: whole channels, at least one.
[[nodiscard]] bool has_ratio(const Part& part, double ratio);

}  // namespace thimble::search
