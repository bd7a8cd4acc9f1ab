// Nodes that round f32 numbers to the steps of integers while a network is trained.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "ops/families/quantized/fake.h"

namespace thimble::quantizing {

struct FakeNode {
  int x = -1;  // the value that is rounded
  ops::FakeSteps steps;
  std::vector<float> scales;  // one, or one for each index of the axis

  // As an activation on int8 is rounded.
  [[nodiscard]] bool is_int8_activation() const {
    return scales.size() == 1 && steps.low == -128 && steps.high == 127;
  }
};

// What a node rounds to; none: it is no such node, or its scales are not known.
[[nodiscard]] std::optional<FakeNode> fake_node(const ir::Graph& graph, const ir::Node& node);

// Whether a graph has such nodes (prepare_qat).
[[nodiscard]] bool is_prepared(const ir::Graph& graph);

// The integer of a number, computed in f32 as the op computes it.
[[nodiscard]] int64_t fake_integer(float value, float scale, const ops::FakeSteps& steps);

}  // namespace thimble::quantizing
