// Functions of more than one op that the benchmarks call by name.
#pragma once

#include <thimble/graph.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace thimble::bench {

// The first result of a function. options: as attributes in ops.json. Throws Error where the
// benchmarks know no function of that name.
[[nodiscard]] Value call_function(const std::string& name, const nlohmann::json& options,
                                  const std::vector<Value>& inputs);

}  // namespace thimble::bench
