// The settings of learning-rate schedules (thimble/schedule.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace thimble {

// lr * gamma^floor(step / step_size). gamma: in (0, 1].
struct StepDecay {
  double lr = 0.0;
  int64_t step_size = 0;
  double gamma = 0.1;
};

// lr * gamma^(number of milestones that step has reached). milestones: at least one, from 1 on,
// none before an earlier one; one that is named twice counts twice. PyTorch: MultiStepLR.
struct MultiStepDecay {
  double lr = 0.0;
  std::vector<int64_t> milestones;
  double gamma = 0.1;
};

// lr * gamma^step. gamma: in (0, 1].
struct ExponentialDecay {
  double lr = 0.0;
  double gamma = 0.0;
};

// min + (max - min) / 2 * (1 + cos(pi * (step mod decay_steps) / decay_steps)): falls from max
// towards min and starts again. Source: Loshchilov and Hutter, "SGDR", 2017, equation 5.
struct CosineAnnealing {
  double max = 0.0;
  double min = 0.0;
  int64_t decay_steps = 0;
};

// max - (max - min) / decay_steps * step, then min.
struct LinearDecay {
  double max = 0.0;
  double min = 0.0;
  int64_t decay_steps = 0;
};

// cosine_annealing whose periods grow: t_0 steps, then t_0 * t_mult, then t_0 * t_mult^2, ...
// PyTorch: CosineAnnealingWarmRestarts.
struct CosineRestarts {
  double max = 0.0;
  double min = 0.0;
  int64_t t_0 = 0;
  int64_t t_mult = 1;
};

// min + (max - min) * (1 - step / decay_steps)^power, then min. PyTorch: PolynomialLR.
struct PolynomialDecay {
  double max = 0.0;
  double min = 0.0;
  int64_t decay_steps = 0;
  double power = 1.0;
};

// From max / div_factor up to max and down to max / div_factor / final_div_factor; with three_phase
// down to where it began first. Source: Smith and Topin, "Super-convergence", 2018, as PyTorch's
// OneCycleLR without cycle_momentum.
struct OneCycle {
  enum class Anneal : uint8_t { cos, linear };
  double max = 0.0;
  int64_t total_steps = 0;
  double pct_start = 0.3;  // share of the steps that go up
  Anneal anneal = Anneal::cos;
  double div_factor = 25.0;
  double final_div_factor = 1e4;
  bool three_phase = false;
  // The optimizer's momentum (beta1 of the Adam family) from max_momentum down to base_momentum as
  // the rate goes up, and back.
  bool cycle_momentum = false;
  double base_momentum = 0.85;
  double max_momentum = 0.95;
};

// From min to max in step_size_up steps, back in step_size_down, and again: triangles of the height
// max - min, or of lower ones. Source: Smith, "Cyclical learning rates for training neural
// networks", 2017. PyTorch: CyclicLR without cycle_momentum.
struct Cyclic {
  enum class Mode : uint8_t {
    triangular,   // each of the same height
    triangular2,  // each half as high as the one before
    exp_range,    // the height times gamma^step
  };
  double max = 0.0;
  double min = 0.0;
  int64_t step_size_up = 2000;
  int64_t step_size_down = 0;  // 0: as step_size_up
  Mode mode = Mode::triangular;
  double gamma = 1.0;  // of exp_range: in (0, 1]
  // The optimizer's momentum (beta1 of the Adam family) from max_momentum down to base_momentum as
  // the rate goes up, and back; its fall is lower where the triangles are.
  bool cycle_momentum = false;
  double base_momentum = 0.8;
  double max_momentum = 0.9;
};

// lr, times factor whenever more than `patience` epochs in a row have not bettered the watched
// value: the loss of the validation set, or of the training set where there is none.
// PyTorch: ReduceLROnPlateau.
struct ReduceOnPlateau {
  enum class Mode : uint8_t { min, max };
  enum class ThresholdMode : uint8_t { rel, abs };
  double lr = 0.0;
  Mode mode = Mode::min;  // whether smaller or larger is better
  double factor = 0.1;    // below 1
  int64_t patience = 10;
  double threshold = 1e-4;  // what counts as better: by this share of the best value, or ...
  ThresholdMode threshold_mode = ThresholdMode::rel;  // ... abs: by this much
  int64_t cooldown = 0;                               // epochs after a fall that do not count
  double min_lr = 0.0;
  double epsilon = 1e-8;  // a fall by less is left out
  std::string metric;     // of the graph, watched instead of the loss; not empty: its name
};

}  // namespace thimble
