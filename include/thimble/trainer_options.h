// Options of a training.
#pragma once

#include <thimble/optimizers.h>
#include <thimble/schedule.h>
#include <thimble/swap.h>
#include <thimble/types.h>
#include <thimble/update_scheme.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace thimble {

// One of several losses of a training, for the parameters whose names match its pattern: a
// generative adversarial network has one for "generator.*" and one for "discriminator.*".
struct Objective {
  std::string loss;        // a metric of the graph, f32
  std::string parameters;  // pattern of names; * stands for any characters
  // Instead of the trainer's. A schedule changes its learning rate in proportion; a momentum that
  // is scheduled is that of every optimizer that has one.
  std::optional<Optimizer> optimizer = {};
  bool operator==(const Objective&) const = default;
};

// The factor of the loss with which f16 gradients are computed, so that small ones are not rounded
// to 0. Updates divide by it. Where a gradient is not finite, the update is skipped (parameters,
// optimizer state and the number of updates stay as they were) and the scale falls. The defaults
// are those of torch.amp.GradScaler.
struct LossScaling {
  double initial = 65536.0;
  double growth = 2.0;      // factor after `interval` updates in a row, at least 1
  double backoff = 0.5;     // factor after a skipped update, above 0 and below 1
  int64_t interval = 2000;  // at least 1
  bool operator==(const LossScaling&) const = default;
};

// How the change of an integer parameter, an int8 weight or int32 bias, becomes a whole number.
enum class IntegerRounding : uint8_t {
  stochastic,  // at random, up with the probability of the fractional part: it takes no memory
  residual,    // to nearest; what that leaves waits for the next update, in 16 bits a number
};

struct TrainerOptions {
  Optimizer optimizer = AdamW{};
  std::optional<Schedule> schedule;  // of the learning rate; none: the optimizer's own, constant
  std::vector<ParamGroup> groups;    // first match wins; the rest follows the optimizer
  // First match wins; the rest follows the graph's loss. A step changes the parameters of all, by
  // gradients at what they were before it.
  std::vector<Objective> objectives;
  // A sparse update: which parameters are trained. None: all that are not frozen. Groups may freeze
  // more.
  std::optional<UpdateScheme> scheme = {};
  GradientClip clip;       // none by default
  double ema_decay = 0.0;  // share kept in a running average of the weights; 0: none
  int64_t batch = 32;      // samples in one step
  int64_t accumulate = 1;  // steps whose gradients make one update
  // The most bytes training may take in all; an ample budget avoids recomputation. 0: no limit, but
  // what is little work and saves memory is recomputed.
  int64_t memory_budget = 0;
  Swap swap = Swap::automatic;    // only used with a memory_budget
  std::string swap_dir;           // of the swap file; empty: that of temporary files
  int64_t micro_batches = 1;      // that a batch is computed in; 0: as many as the budget needs
  bool split_batch_norm = false;  // batch norms use statistics of each micro-batch
  // Type of activations and gradients: f32, or lossily bf16 (8 significant bits, the range of f32)
  // or f16 (11 bits, up to 65504, with a loss scale). Parameters, optimizer state, sums and the
  // loss are f32 always.
  DType precision = DType::f32;
  LossScaling loss_scaling;              // of f16
  DType saved_activations = DType::f32;  // type stored for the backward pass: f32, bf16 or f16
  // For the int8 weights and int32 biases of quantized networks. Quantization-aware scaling: the
  // optimizer's rule is for the real numbers that they stand for, so that learning rates and weight
  // decay mean what they mean in f32. Without, it is for the integers themselves.
  bool quantization_aware_scaling = true;
  IntegerRounding integer_rounding = IntegerRounding::stochastic;
  // How the gradients of int8 activations are stored: f32, or lossily i8, with one scale for the
  // tensor, its largest number by 127.
  DType error_type = DType::f32;
  int64_t input_pipeline_bytes = 0;  // part of the budget for reading samples; 0: two batches
  uint64_t seed = 0;                 // of initial values, order, dropout and noise
  int threads = 0;                   // 0: one per processor
  // Run the reference kernels alone: far slower, with the bits of C sources and of thimble-micro.
  bool reference_kernels = false;
};

}  // namespace thimble
