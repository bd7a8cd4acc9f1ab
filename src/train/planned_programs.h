// The programs of a trainer, as the planner compiles them.
#pragma once

#include <string>
#include <vector>

#include "plan/budget/training_programs.h"

namespace thimble::train {

struct State;

// Builds the step graphs of a state's model, and compiles them with its runner.
class PlannedPrograms final : public plan::TrainingPrograms {
 public:
  explicit PlannedPrograms(State& state) : state_(state) {}

  void set_micro_batches(int64_t count) override;
  [[nodiscard]] std::string why_not_micro_batches_of(int64_t count) const override;
  [[nodiscard]] int64_t micro_batch_size() const override;
  [[nodiscard]] plan::ProgramKey update_key() const override;
  [[nodiscard]] plan::ProgramKey evaluation_key() const override;
  [[nodiscard]] std::vector<plan::ProgramKey> other_keys() const override;
  [[nodiscard]] ir::Graph graph_of(const plan::ProgramKey& key) const override;
  void compile(const plan::ProgramKey& key, ir::Graph graph, const plan::Budget& budget) override;
  void drop_if_covered(const plan::ProgramKey& key, const plan::ProgramKey& by) override;
  void clear() override;
  [[nodiscard]] const plan::Fitted* find(const plan::ProgramKey& key) const override;
  [[nodiscard]] Plan plan(const plan::ProgramKey& key) const override;
  [[nodiscard]] int64_t constant_bytes() const override;
  [[nodiscard]] int64_t small_constant_bytes(const plan::ProgramKey& key) const override;
  [[nodiscard]] int64_t missing_file_bytes() const override;
  [[nodiscard]] int64_t tables_bytes() const override;
  [[nodiscard]] int64_t input_pipeline_bytes() const override;
  [[nodiscard]] int64_t saved_state_bytes() const override;
  [[nodiscard]] std::vector<plan::RequestedStrategy> requested_strategies() const override;
  [[nodiscard]] plan::NodeTimes rates() override;
  void allocate() override;
  [[nodiscard]] plan::Rehearsal rehearse() override;

 private:
  State& state_;
};

}  // namespace thimble::train
