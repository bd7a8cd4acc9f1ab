// Values that lie in the swap file between their uses: which, and when they are moved.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"

namespace thimble::plan {

// What a step costs in time, measured or estimated; milliseconds.
struct SwapCosts {
  std::vector<double> node_ms;  // of each node
  double read_ms_per_byte = 0.0;
  double write_ms_per_byte = 0.0;
  double transfer_ms = 0.0;  // of each, besides

  [[nodiscard]] double read_ms(int64_t bytes) const {
    return static_cast<double>(bytes) * read_ms_per_byte + transfer_ms;
  }
  [[nodiscard]] double write_ms(int64_t bytes) const {
    return static_cast<double>(bytes) * write_ms_per_byte + transfer_ms;
  }
  // Makes the file take that many times as long.
  void scale_file(double factor) {
    read_ms_per_byte *= factor;
    write_ms_per_byte *= factor;
    transfer_ms *= factor;
  }
};

struct SwapOptions {
  ArenaOptions arena;
  // Wanted of the largest sum alive: values of the arena, and resident parameters and state.
  int64_t target_bytes = 0;
  // Parameters and state that lie in the file because another program over the same store put
  // them there, and no others may; none: as chosen.
  std::optional<std::set<std::string>> in_file;
  // Of what is moved: less is not worth a transfer. A page.
  int64_t smallest_bytes = 4096;
  SwapCosts costs;
  // By which the times of what was chosen are predicted; none: costs.
  std::optional<SwapCosts> actual;
};

// What is swapped and when it is moved: all that a graph's transfers follow from.
struct SwapDecisions {
  // A buffer of the arena, or a parameter or state.
  struct Item {
    int item = 0;           // among all that may be swapped
    std::string name;       // of its first value
    std::vector<int> gaps;  // between its accesses, in which it is out of memory
    bool operator==(const Item&) const = default;
  };
  struct Move {
    int read_at = 0;     // node before which a read begins
    int written_at = 0;  // node after which a write must have ended
    bool operator==(const Move&) const = default;
  };
  int64_t smallest_bytes = 0;     // of what may be swapped
  std::set<std::string> in_file;  // parameters and state
  std::vector<Item> items;
  std::vector<Move> moves;  // of their residencies, item by item
  bool operator==(const SwapDecisions&) const = default;
};

// A step with its transfers.
struct Swapped {
  ir::Graph graph;
  SwapDecisions decisions;
  std::set<std::string> in_file;    // parameters and state; their slots come first, in this order
  std::vector<int64_t> slot_bytes;  // the places it needs in the file
  int64_t peak_bytes = 0;           // largest sum alive, as the target counts it
  int64_t values = 0;               // that are swapped
  int64_t transfers = 0;
  int64_t read_bytes = 0;
  int64_t written_bytes = 0;
  double transfer_ms = 0.0;  // predicted, of all transfers
  double stall_ms = 0.0;     // predicted: time that the step waits for them
};

// Moves values out of memory until no more than the target is alive at once, or as little as that
// gets to. The nodes keep their order and kernels, so that every result has the same bits.
//
// Greedy at the peak moment: the gap between two uses that frees most of what is too much, over
// all the step, for its transfer time. Swaps that prove needless are taken back. Then reads
// are begun as early, and writes ended as late, as the transfers take, and then twice that, where
// the memory up to the target allows. After Rhu et al., "vDNN", 2016, and Huang et al.,
// "SwapAdvisor", 2020.
[[nodiscard]] Swapped swap(const ir::Graph& graph, const SwapOptions& options);
// The step with transfers that were decided before, of the same graph; peak_bytes is left out.
// Throws Error where they are of another.
[[nodiscard]] Swapped apply_swap(const ir::Graph& graph, const ArenaOptions& options,
                                 const SwapDecisions& decisions, const SwapCosts& costs);

}  // namespace thimble::plan
