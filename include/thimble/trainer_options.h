// What a trainer is told beside the model.
#pragma once

#include <thimble/optimizers.h>
#include <thimble/schedule.h>
#include <thimble/swap.h>
#include <thimble/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace thimble {

struct TrainerOptions {
  Optimizer optimizer = AdamW{};
  std::optional<Schedule> schedule;  // of the learning rate; none: the optimizer's own, constant
  std::vector<ParamGroup> groups;    // first match wins; the rest follows the optimizer
  GradientClip clip;                 // none by default
  double ema_decay = 0.0;            // share kept in a running average of the weights; 0: none
  int64_t batch = 32;                // samples in one step
  int64_t accumulate = 1;            // steps whose gradients make one update
  // Bytes training may take in all; with ample ones next to nothing is computed twice. 0: no limit,
  // but memory is saved where that is little work.
  int64_t memory_budget = 0;
  Swap swap = Swap::automatic;           // used with a memory_budget alone
  std::string swap_dir;                  // of the swap file; empty: where temporary files go
  int64_t micro_batches = 1;             // parts a batch is computed in; 0: as the budget asks for
  bool split_batch_norm = false;         // let batch norms see micro-batches alone
  DType saved_activations = DType::f32;  // how they wait for the backward part: f32, bf16 or f16
  int64_t input_pipeline_bytes = 0;      // of the budget, for reading samples; 0: two batches
  uint64_t seed = 0;                     // of first values, order, dropout and noise
  int threads = 0;                       // 0: one per processor
};

}  // namespace thimble
