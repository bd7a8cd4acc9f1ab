// Which fields of a batch hold numbers that an op of the model looks up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::train {

struct IndexCheck {
  std::string source;  // an input or label of the model
  std::string op;      // as the model's author called it
  int64_t size = 0;    // numbers go from 0 to below; may be of the open batch
  std::optional<int64_t> ignored;
};

// Of sources that reach an op (ir::IndexInput) as they are or reshaped.
[[nodiscard]] std::vector<IndexCheck> index_checks(const ir::Graph& model);

}  // namespace thimble::train
