// A trained model that reads one symbol at a time and carries its state along.
#pragma once

#include <thimble/graph.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "train/runner.h"

namespace thimble::train {

// Runs a graph once per symbol. The graph has the input "token", i32 [N, 1], and optionally
// "position", likewise, the number of symbols before; the output "logits" scores the next symbol.
// Every other output has an input of its name and type, which receives it at the next step and
// zeros at the first. Batch 1. Thread safety: none. Errors: Error if the graph is not of this form
// or the checkpoint lacks a weight.
class StepModel {
 public:
  // threads: 0 means one per processor.
  StepModel(const Graph& graph, const std::string& checkpoint, int threads);

  // Resets the carried state.
  void restart();
  // Reads a symbol and returns the scores of the next one, valid until the next call.
  [[nodiscard]] std::span<const float> step(int32_t token);
  // Symbols since the last restart.
  [[nodiscard]] int64_t position() const { return position_; }

 private:
  // State carried from one step to the next, because the arena keeps nothing between steps.
  struct Carried {
    std::span<std::byte> input;
    std::span<const std::byte> output;
    std::vector<std::byte> kept;
  };

  ir::Graph model_;
  Runner runner_;
  std::vector<Carried> carried_;
  int64_t position_ = 0;
};

}  // namespace thimble::train
