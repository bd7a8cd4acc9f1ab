// Decisions that fit a step into its memory budget: a value that can be printed, saved and applied.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/remat/schedule.h"
#include "plan/swap/swap.h"

namespace thimble::plan {

// Together with the graph, the arena's options and the requested storage they determine the plan.
struct StepDecisions {
  struct Recomputed {
    int node = 0;      // index in the chosen order
    std::string name;  // name of its first output
    Recompute how = Recompute::once;
    bool operator==(const Recomputed&) const = default;
  };
  struct Swapping {
    int64_t staging_bytes = 0;
    SwapDecisions transfers;
    bool operator==(const Swapping&) const = default;
  };

  int64_t micro_batches = 1;
  std::vector<std::string> stored_in_16_bits;  // values
  std::vector<std::string> bit_masks;          // names of values of which bits are kept
  bool tiled_updates = true;                   // whether updates are tiled where it saves memory
  int order = 0;                               // index among the orders of the step
  std::vector<Recomputed> recomputed;
  std::optional<Swapping> swap;
  bool operator==(const StepDecisions&) const = default;
};

// "tiled updates; 3 bit masks; 12 nodes recomputed; 4 values swapped"
[[nodiscard]] std::string summary(const StepDecisions& decisions);

// Writes one line of JSON, and reads it. Throws Error if the text is not valid.
[[nodiscard]] std::string to_json(const StepDecisions& decisions);
[[nodiscard]] StepDecisions decisions_from_json(const std::string& text);

}  // namespace thimble::plan
