// Tensors cut into more parts, and made of more, than one op of thimble's takes.
#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <vector>

namespace thimble::importer {

// The parts one behind the other along an axis, in several ops where they are many.
[[nodiscard]] Value concatenated(std::vector<Value> parts, int64_t axis);

// x in parts of these sizes along an axis, in several ops where they are many.
[[nodiscard]] std::vector<Value> split_into(Value x, int64_t axis,
                                            const std::vector<int64_t>& sizes);

}  // namespace thimble::importer
