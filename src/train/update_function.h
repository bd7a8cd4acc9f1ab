// An optimizer's rule as a function of a parameter, its gradient and what the optimizer keeps.
#pragma once

#include <thimble/optimizer.h>

#include <cstdint>
#include <span>
#include <vector>

#include "exec/memory.h"
#include "ir/graph.h"
#include "ir/optimizer_value.h"
#include "parallel/thread_pool.h"

namespace thimble::train {

// For one optimizer and parameters of one shape. Thread safety: none.
class UpdateFunction {
 public:
  // threads: of the pool that it will run on. Throws Error where the optimizer does not take the
  // shape.
  UpdateFunction(const Optimizer& optimizer, const Shape& shape, int threads);

  // The states that the optimizer keeps for a parameter, with types and first values.
  [[nodiscard]] const std::vector<ir::StateSpec>& states() const { return states_; }
  // Changes parameter and states in place. number: of this update, from 1.
  void run(std::span<float> parameter, std::span<const float> gradient,
           std::span<const std::span<std::byte>> states, double lr, int64_t number,
           parallel::ThreadPool& pool);

 private:
  ir::Graph graph_;
  std::vector<ir::StateSpec> states_;
  std::vector<exec::Block> buffers_;  // aligned copies of the node's inputs
  exec::Block workspace_;
  ir::Params params_;
};

// Writes the initial value of a state. of: f32, or another type whose initial values are zeros.
void fill_first(const ir::StateSpec& state, std::span<std::byte> of);

}  // namespace thimble::train
