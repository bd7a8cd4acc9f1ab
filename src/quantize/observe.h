// What quantize_model and prepare_qat begin with: checks, and the ranges of activations.
#pragma once

#include <thimble/quantize.h>

#include <functional>
#include <map>
#include <vector>

#include "ir/graph.h"
#include "quantize/calibration.h"
#include "quantize/samples.h"

namespace thimble::quantizing {

// Throws Error where options are out of range.
void check_options(const QuantizeModelOptions& options);

// Throws Error, naming the function, where the graph is of int8 or has no values for a parameter.
void check_graph(const ir::Graph& graph, const char* where);

// The graph at inference, batch norms folded into the weights before them.
[[nodiscard]] ir::Graph folded(const ir::Graph& graph);

// Says how many samples were read of all that will be.
class Progress {
 public:
  Progress(const QuantizeModelOptions& options, int64_t passes, int64_t samples)
      : say_(options.on_progress), total_(passes * samples) {}
  void add(int64_t samples) {
    done_ += samples;
    if (say_) say_(done_, total_);
  }

 private:
  const std::function<void(int64_t, int64_t)>& say_;
  int64_t total_;
  int64_t done_ = 0;
};

// How often observed_ranges reads the samples.
[[nodiscard]] inline int64_t passes_of(const QuantizeModelOptions& options) {
  return options.calibration == Calibration::minmax ? 1 : 2;
}

// The ranges of these values of the graph. Throws Error, naming the function, where one is not
// finite.
[[nodiscard]] std::map<int, Range> observed_ranges(const ir::Graph& graph,
                                                   const std::vector<int>& values,
                                                   const Samples& samples,
                                                   const QuantizeModelOptions& options,
                                                   Progress& progress, const char* where);

}  // namespace thimble::quantizing
