// The memory plan of a training step: every buffer with its place and lifetime, and the peak.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include <thimble/types.h>

namespace thimble {

// The origin of a buffer's contents.
enum class Made : uint8_t {
  first,       // computed or set once and kept until its last read
  recomputed,  // recomputed for the backward pass
  fetched,     // read back from the swap file
};

// One buffer of the arena. Times are indices into Plan::steps.
struct PlanBuffer {
  std::string name;
  std::string role;  // "activation", "gradient", "input", "workspace", ...
  DType dtype = DType::f32;
  Shape shape;
  int64_t bytes = 0;
  int64_t offset = 0;  // from the arena's start
  int birth = 0;       // first step that writes it
  int death = 0;       // one past the last step that reads it
  Made made = Made::first;
};

// One op of the step, in order of execution.
struct PlanStep {
  std::string op;
  std::string layer;       // empty if it belongs to none
  int64_t live_bytes = 0;  // sum of the arena's buffers alive
};

// A strategy that the plan uses to save memory, and its cost.
struct PlanStrategy {
  std::string name;            // "memory reuse", "recomputation", "swap", ...
  std::string detail;          // what it was applied to: "12 values"; may be empty
  int64_t saved_bytes = 0;     // of the peak left by the strategies before it
  int64_t left_bytes = 0;      // the peak that remains
  double extra_flops = 0.0;    // per step
  int64_t extra_io_bytes = 0;  // read from and written to the swap file, per step
  double predicted_ms = 0.0;   // added to a step
  bool lossless = true;        // every result keeps its bits
};

// A candidate plan that the budget search tried.
struct PlanCandidate {
  std::string decisions;  // its decisions as text
  int64_t bytes = 0;      // as the budget counts them
  double step_ms = 0.0;   // predicted
  std::string verdict;    // "chosen", or why not
};

// The plan of a step, made before anything runs. It states exactly what the run will use.
struct Plan {
  int64_t planned_peak_bytes = 0;  // persistent memory + arena + swap staging
  int64_t lower_bound_bytes = 0;   // persistent memory + largest sum alive at once
  int64_t parameter_bytes = 0;
  int64_t read_only_bytes = 0;     // part of parameter_bytes that no step changes
  int64_t parameters = 0;          // elements of all parameters; 0: not counted
  int64_t trained_parameters = 0;  // of those, the ones that a step changes
  int64_t state_bytes = 0;         // optimizer moments, running statistics
  int64_t saved_state_bytes = 0;   // what 8-bit moments save against 32-bit ones
  int64_t constant_bytes = 0;
  int64_t padding_bytes = 0;           // aligns each of the above to a cache line
  int64_t constant_padding_bytes = 0;  // the constants' part of the padding
  int64_t arena_bytes = 0;             // activations, gradients, inputs, workspaces: packed
  int64_t activation_peak_bytes = 0;   // largest sum alive in the arena, without workspaces
  int64_t workspace_bytes = 0;         // largest scratch memory of one op
  int64_t in_file_bytes = 0;           // part of parameters and state that waits in the swap file
  int64_t staging_bytes = 0;           // bounce buffers of the swap file
  int64_t swap_file_bytes = 0;         // on the disk; 0: no swap file
  std::string no_swap;  // why a swap file is not possible; empty: it is, or none was asked for
  int64_t input_pipeline_bytes = 0;    // set aside for reading samples; not part of the peak
  int64_t reserved_bytes = 0;          // likewise, for constants and tables
  int64_t batch = 0;                   // samples of a step, all micro-batches together
  int64_t micro_batches = 1;           // number of micro-batches of a step
  int64_t budget_bytes = 0;            // asked for; 0: none
  bool fits = true;                    // whether peak and reserves keep the budget
  int64_t nearest_feasible_bytes = 0;  // smallest budget found that can be kept; 0: not looked for
  int64_t swap_read_bytes = 0;         // per step
  int64_t swap_written_bytes = 0;      // per step
  double swap_busy_ms = 0.0;           // predicted time the swap file is busy, per step
  double swap_stall_ms = 0.0;          // predicted time a step waits for the swap file
  double step_ms = 0.0;                // predicted; 0: not known
  int peak_step = 0;
  std::vector<PlanStrategy> strategies;   // in the order they were applied
  std::vector<PlanCandidate> candidates;  // plans tried for the budget
  std::string decisions;                  // decisions of the step, as JSON
  std::vector<PlanBuffer> buffers;
  std::vector<PlanStep> steps;

  // The peak, what it consists of, and the largest buffers at the peak.
  [[nodiscard]] std::string text(int largest_buffers = 8) const;
};

std::ostream& operator<<(std::ostream& out, const Plan& plan);

// "1.13 MiB (1,184,972 B)"
[[nodiscard]] std::string format_bytes(int64_t bytes);

}  // namespace thimble
