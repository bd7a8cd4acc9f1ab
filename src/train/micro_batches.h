// A step in parts of its batch, whose gradients are added up: the whole batch's result in the
// memory of a part.
#pragma once

#include <thimble/trainer_options.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::train {

// Some samples of a batch, one after another.
struct Part {
  int64_t first = 0;
  int64_t count = 0;
};

// Samples of a part, where a batch is computed in so many; the last part may have fewer.
[[nodiscard]] inline int64_t part_size(int64_t batch, int64_t parts) {
  return (batch + parts - 1) / parts;
}

// Calls use(part) for the parts of that size that make up `count` samples.
template <class Use>
void for_each_part(int64_t count, int64_t size, const Use& use) {
  for (int64_t first = 0; first < count; first += size) {
    use(Part{first, std::min(size, count - first)});
  }
}

// Why a training step cannot be computed in parts with the result of the whole batch; empty where
// it can. That holds where the loss is a mean over samples of what each gives alone, so that its
// gradient is the mean of the parts', each with the weight of its samples. A rule about the graph
// alone: data that a loss leaves out (ignored_labels) are found when they come.
[[nodiscard]] std::string why_not_micro_batches(const ir::Graph& model,
                                                const TrainerOptions& options);

// A label that takes its sample out of a loss's mean, which parts cannot make up for.
struct IgnoredLabel {
  std::string source;  // of the model
  int64_t value = 0;
};
[[nodiscard]] std::vector<IgnoredLabel> ignored_labels(const ir::Graph& model);

}  // namespace thimble::train
