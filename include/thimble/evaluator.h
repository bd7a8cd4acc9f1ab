// Loss and metrics of a trained graph.
#pragma once

#include <thimble/array.h>
#include <thimble/data.h>
#include <thimble/fit.h>
#include <thimble/graph.h>
#include <thimble/plan.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace thimble {

struct EvaluatorOptions {
  // The file with parameters and running statistics: a model file, a checkpoint or any safetensors
  // file. Of weights that were averaged (ema_decay) the averages. Empty: the values that the graph
  // has (load_model, load_weights).
  std::string weights;
  int64_t batch = 32;  // samples computed at once
  int threads = 1;     // 0: one per processor
  // Outputs of the graph that evaluate collects, by name.
  std::vector<std::string> outputs;
  bool reference_kernels = false;  // run these alone, whose bits C sources and thimble-micro have
};

// A graph compiled for evaluation alone: without gradients and optimizer, in far less memory than a
// Trainer. So it takes graphs that have nothing to train, too.
// Thread safety: none. Errors: thimble::Error.
class Evaluator {
 public:
  // Throws Error where a parameter or running statistic has no value.
  explicit Evaluator(const Graph& graph, const EvaluatorOptions& options = {});
  ~Evaluator();
  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;

  [[nodiscard]] Plan plan() const;

  // Means over all samples, the same bits as Trainer::evaluate with the same batch. outputs, if not
  // null: receives those that the options name, [samples, ...] of their types.
  [[nodiscard]] Evaluation evaluate(const data::Dataset& dataset,
                                    std::map<std::string, Array>* outputs = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace thimble
