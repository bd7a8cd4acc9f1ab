// A trained model that takes one symbol at a time and carries what it remembers.
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

// Runs a graph once for each symbol. The graph has the input "token", i32 [N, 1], and, if it wants
// to know how many came before, "position", likewise; the output "logits" scores the next symbol.
// Every further output has an input of its name and type, which holds it at the next step, and
// zeros at the first. Batch 1.
// Thread safety: none. Errors: Error where the graph is not so, or the checkpoint lacks a weight.
class StepModel {
 public:
  // threads: 0 means one per processor.
  StepModel(const Graph& graph, const std::string& checkpoint, int threads);

  // Forgets everything.
  void restart();
  // Takes a symbol; the scores of the next, valid until the next call.
  [[nodiscard]] std::span<const float> step(int32_t token);
  // Symbols since the last restart.
  [[nodiscard]] int64_t position() const { return position_; }

 private:
  // What is carried from one step to the next. The arena keeps nothing between steps.
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
