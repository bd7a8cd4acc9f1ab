// What every value of a model has to do with the samples of the batch.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::train {

enum class Holds : uint8_t {
  nothing,  // the same whatever the samples are
  samples,  // one part a sample, in their order, each of that sample alone
  mean,     // the mean over samples of what each would give alone
  mixed,    // anything else
};

// A label that a mean leaves out.
struct LeftOut {
  int node;
  int value;  // that holds the label
  int64_t label;
};

struct SampleFlow {
  std::vector<Holds> holds;  // by value
  std::vector<int> culprit;  // by value: the node that mixed samples first; -1: none
  std::string refused;  // why the graph cannot run part by part, whatever the loss; empty: it can
  std::vector<LeftOut> left_out;
};

// Follows the samples through a forward graph whose batch is open, by what ops say of themselves
// (DataFlow::samples), what shapes show, and gradient rules, which tell what keeps a mean a mean.
// split_statistics: statistics over the batch may be those of a part.
[[nodiscard]] SampleFlow follow_samples(const ir::Graph& forward, bool split_statistics);

// "batch_norm of encoder.0.norm"
[[nodiscard]] std::string name_of(const ir::Graph& graph, const ir::Node& node);

}  // namespace thimble::train
