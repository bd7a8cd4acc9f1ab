// What a step does to keep its memory: a value that can be printed, saved and applied again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/remat/schedule.h"
#include "plan/swap/swap.h"

namespace thimble::plan {

// A plan follows from these, the graph, the arena's options and the storage that was asked for.
struct StepDecisions {
  struct Recomputed {
    int node = 0;      // in its order
    std::string name;  // of its first output
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
  std::vector<std::string> bit_masks;          // values of which bits are kept
  bool tiled_first = true;                     // updates are tiled before nodes are recomputed,
  bool tiled_after = false;                    // or more of them afterwards
  int order = 0;                               // of the orders of the step
  std::vector<Recomputed> recomputed;
  std::optional<Swapping> swap;
  bool operator==(const StepDecisions&) const = default;
};

// "tiled updates first; 3 bit masks; 12 nodes recomputed; 4 values swapped"
[[nodiscard]] std::string summary(const StepDecisions& decisions);

// As one line of JSON, and back. Throws Error where the text is not what the first one writes.
[[nodiscard]] std::string to_json(const StepDecisions& decisions);
[[nodiscard]] StepDecisions decisions_from_json(const std::string& text);

}  // namespace thimble::plan
