// The training whose checkpoints are the seeds of fuzz_checkpoint; scripts/fuzz_seeds.py writes
// them.
#pragma once

#include <thimble/ops.h>
#include <thimble/trainer.h>

#include <vector>

namespace thimble::test {

inline Graph checkpoint_model() {
  Graph g;
  const Value x = g.input("x", {2});
  const Value y = g.label("y", {1}, DType::f32);
  const Value error = dense(x, {.units = 1, .name = "d"}) - y;
  g.minimize(mean(error * error));
  g.metric("error", mean(abs(error)));
  return g;
}

inline data::Dataset checkpoint_samples() {
  return data::in_memory({{"x", {2}}, {"y", {1}, DType::f32, true}},
                         {std::vector<float>{1, 2, 3, 4, 5, 6}, std::vector<float>{1, 2, 3}});
}

inline TrainerOptions checkpoint_options() {
  return {.optimizer = SGD{.lr = 0.01, .momentum = 0.9}, .batch = 2, .threads = 1};
}

}  // namespace thimble::test
