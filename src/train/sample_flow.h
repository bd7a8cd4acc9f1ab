// How every value of a model depends on the samples of the batch.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::train {

enum class Holds : uint8_t {
  nothing,  // the same whatever the samples are
  samples,  // one part per sample, in order, each depending on that sample only
  mean,     // a mean over samples of terms that depend on one sample each
  mixed,    // anything else
};

// A label whose sample a mean ignores.
struct LeftOut {
  int node;
  int value;  // that holds the label
  int64_t label;
};

struct SampleFlow {
  std::vector<Holds> holds;  // by value
  std::vector<int> culprit;  // by value: the first node that mixes samples; -1: none
  std::string refused;       // the reason why the graph cannot run with micro-batches, whatever the
                             // loss; empty: it can
  std::vector<LeftOut> left_out;
};

// Follows samples through a forward graph whose batch is open, by the ops' own rules
// (DataFlow::samples), by shapes, and by gradient rules, which show what keeps a mean a mean.
// split_statistics: batch statistics may be those of a micro-batch.
[[nodiscard]] SampleFlow follow_samples(const ir::Graph& forward, bool split_statistics);

// "batch_norm of encoder.0.norm"
[[nodiscard]] std::string name_of(const ir::Graph& graph, const ir::Node& node);

}  // namespace thimble::train
