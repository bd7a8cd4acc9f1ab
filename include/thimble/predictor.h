// Running a trained graph forward.
#pragma once

#include <thimble/array.h>
#include <thimble/graph.h>
#include <thimble/plan.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace thimble {

// A graph compiled for inference, with parameters from a file. The graph may be a part of the model
// that was trained: parameters are found by their names.
// Thread safety: none. Errors: thimble::Error.
class Predictor {
 public:
  // threads: 0 means one per processor. reference_kernels: run these alone, whose bits C sources
  // and thimble-micro have.
  Predictor(const Graph& graph, const std::string& checkpoint, int64_t batch = 1, int threads = 1,
            bool reference_kernels = false);
  // Graph and parameters of a model file or checkpoint.
  explicit Predictor(const std::string& model_file, int64_t batch = 1, int threads = 1);
  // With the values that the graph has (load_model, load_weights). Throws Error where one has none.
  explicit Predictor(const Graph& graph, int64_t batch = 1, int threads = 1);
  ~Predictor();
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;

  [[nodiscard]] Plan plan() const;

  // Inputs by name, of the graph's types, [count, ...] for any count; a row of numbers counts as
  // the elements of all samples, one after the other. Returns all outputs by name, [count, ...] of
  // their own types. Throws Error where one is missing, or of another type or shape.
  [[nodiscard]] std::map<std::string, Array> run(const std::map<std::string, Array>& inputs);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace thimble
