// Micro-batches: a step computes its batch a few samples at a time and sums up the gradients, which
// gives the whole batch's result in the memory of a micro-batch.
#pragma once

#include <thimble/trainer_options.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::train {

// A range of samples of a batch.
struct MicroBatch {
  int64_t first = 0;
  int64_t count = 0;
};

// The samples of one of so many micro-batches, of which the last one may have fewer; and the number
// of micro-batches of so many samples.
[[nodiscard]] constexpr int64_t divided_up(int64_t batch, int64_t by) {
  return (batch + by - 1) / by;
}

// Calls use(micro_batch) for all micro-batches of this size in `count` samples.
template <class Use>
void for_each_micro_batch(int64_t count, int64_t size, const Use& use) {
  for (int64_t first = 0; first < count; first += size) {
    use(MicroBatch{first, std::min(size, count - first)});
  }
}

// The reason why micro-batches would not give the result of the whole batch; empty if they do. They
// do if the loss is a mean over samples of terms that depend on one sample each: its gradient is
// then the mean of the micro-batches' gradients, weighted by their samples. This checks the graph
// only; labels that a loss ignores (ignored_labels) are found in the data.
[[nodiscard]] std::string why_not_micro_batches(const ir::Graph& model,
                                                const TrainerOptions& options);

// A label whose sample a mean in the loss ignores; micro-batches cannot correct for that.
struct IgnoredLabel {
  std::string source;  // of the model
  int64_t value = 0;
};
[[nodiscard]] std::vector<IgnoredLabel> ignored_labels(const ir::Graph& model);

}  // namespace thimble::train
