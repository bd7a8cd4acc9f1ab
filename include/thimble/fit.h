// How Trainer::fit trains, and what it reports.
#pragma once

#include <thimble/array.h>
#include <thimble/data.h>
#include <thimble/data_loader.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace thimble {

// Means over samples.
struct Evaluation {
  double loss = 0.0;
  std::map<std::string, double> metrics;
  int64_t samples = 0;
};

// Of the loss of a batch.
struct Gradients {
  Evaluation batch;                     // its loss and metrics
  std::map<std::string, Array> values;  // by parameter, of its type and shape
};

struct StepReport {
  int64_t epoch = 0;           // of the whole training, from 0
  int64_t batch = 0;           // in its epoch, from 0
  int64_t batches = 0;         // of the epoch
  int64_t step = 0;            // of the whole training, from 0
  double loss = 0.0;           // of this batch
  double learning_rate = 0.0;  // used in this step
  double milliseconds = 0.0;   // of this step, input pipeline left out
  double swap_busy_ms = 0.0;   // while the swap file had transfers under way
  double swap_stall_ms = 0.0;  // while the step waited for the swap file
  // How long the rehearsed plan expects an updating step to wait that computes as long and whose
  // swap file is as busy; 0 without a rehearsal.
  double swap_expected_stall_ms = 0.0;
  double loss_scale = 0.0;  // of f16, after this step; 0: none
  bool skipped = false;     // f16 gradients were not finite, so nothing was updated
};

struct EpochReport {
  int64_t epoch = 0;  // of the whole training, from 0
  Evaluation train;   // as measured during the epoch, while parameters changed
  std::optional<Evaluation> validation;
  double learning_rate = 0.0;  // of the last step
  double seconds = 0.0;
  bool is_best = false;  // lowest monitored loss so far
};

struct FitOptions {
  // epochs - initial_epoch epochs are trained, more of them than were trained before; none where
  // that is not above 0. As in Keras: a training of 30 epochs that was stopped and resumed ends
  // with {.epochs = 30, .initial_epoch = trainer.epochs()}. An epoch that was stopped in its middle
  // is ended first, and counts as one. Order, schedule and reports count the whole training's
  // epochs, whatever initial_epoch is.
  int64_t epochs = 1;
  int64_t initial_epoch = 0;
  std::optional<data::Dataset> validation;  // evaluated after every epoch
  std::string checkpoint;       // file written after every epoch and on a stop; empty: none
  std::string best_checkpoint;  // file written when the monitored loss is lowest; empty: none
  int64_t patience = 0;         // stop after so many epochs without a lower loss; 0: never
  bool shuffle = true;
  int prefetch = 1;       // batches read ahead; 0: read between two steps, straight into them
  data::Augment augment;  // may be empty
  std::function<void(const StepReport&)> on_step;
  std::function<void(const EpochReport&)> on_epoch;
  std::function<bool()> stop;  // called after every step and epoch; true: save and return
};

struct FitResult {
  enum class End : uint8_t { finished, stopped, early };
  End end = End::finished;
  std::vector<EpochReport> epochs;  // of this call
  int64_t steps = 0;                // of the whole training
  double ms_per_step_median = 0.0;  // 0 where no step was left
  int64_t input_pipeline_bytes = 0;
  // The most that was held at once since the plan's memory was taken, input pipeline included.
  int64_t measured_peak_bytes = 0;
  int64_t swap_read_bytes = 0;  // by the steps of this call, without validation
  int64_t swap_written_bytes = 0;
  double swap_busy_ms = 0.0;            // while the swap file had transfers under way
  double swap_stall_ms = 0.0;           // while these steps waited for it
  double swap_expected_stall_ms = 0.0;  // that the plan expects; see StepReport
  double loss_scale = 0.0;              // of f16, after the last step; 0: none
  int64_t skipped_updates = 0;          // of this call, because f16 gradients were not finite
};

}  // namespace thimble
