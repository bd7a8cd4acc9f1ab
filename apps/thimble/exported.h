// A model's programs with the kernels that are written as C, and the engine that runs them.
#pragma once

#include <thimble/thimble.h>

#include <map>
#include <memory>
#include <string>

#include "emit/emit.h"
#include "train/state.h"

namespace thimble::cli {

// The smallest memory budget found for such a training that can be kept; 0: that of the options is.
[[nodiscard]] int64_t nearest_exported_budget(const Graph& graph, const TrainerOptions& options);

class Exported {
 public:
  // Training, and predictions where the graph has outputs. target: of emit::Model. Throws Error.
  Exported(const Graph& graph, const TrainerOptions& options, const std::string& name,
           const std::string& target);
  // Predictions alone. graph: its values are taken out of it.
  Exported(Graph&& graph, int64_t batch, const std::string& name, const std::string& target);

  // What a memory budget of the training counts.
  [[nodiscard]] int64_t counted_bytes() const { return counted_bytes_; }
  [[nodiscard]] emit::Sources sources() const { return emit::c_sources(model_); }
  // Adds build files and a test. Trains so many steps with the engine.
  void finish(emit::Sources& sources, int test_steps);

 private:
  [[nodiscard]] exec::Store& store() const;
  [[nodiscard]] exec::Session& session(train::ProgramKind kind) const;
  [[nodiscard]] std::function<std::span<const std::byte>(const std::string&)> contents() const;
  // Of sources of indices: the number of indices.
  [[nodiscard]] std::map<std::string, int64_t> index_sizes() const;
  void train(const emit::Interface& interface, emit::Golden& golden, int steps);
  void predict(const emit::Interface& interface, emit::Golden& golden);

  emit::Model model_;
  std::vector<train::IndexCheck> indices_;
  int64_t counted_bytes_ = 0;
  std::unique_ptr<Trainer> trainer_;       // null: predictions alone
  std::unique_ptr<train::Runner> runner_;  // of predictions alone
};

}  // namespace thimble::cli
