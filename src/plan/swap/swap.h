// Chooses values to lie in the swap file between their uses, and when to move them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"
#include "plan/swap/items.h"

namespace thimble::plan {

// Times of a step's nodes and transfers, measured or estimated; milliseconds.
struct SwapCosts {
  std::vector<double> node_ms;  // of each node
  double read_ms_per_byte = 0.0;
  double write_ms_per_byte = 0.0;
  double transfer_ms = 0.0;  // added to each transfer

  [[nodiscard]] double read_ms(int64_t bytes) const {
    return static_cast<double>(bytes) * read_ms_per_byte + transfer_ms;
  }
  [[nodiscard]] double write_ms(int64_t bytes) const {
    return static_cast<double>(bytes) * write_ms_per_byte + transfer_ms;
  }
  // Multiplies the times of the file.
  void scale_file(double factor) {
    read_ms_per_byte *= factor;
    write_ms_per_byte *= factor;
    transfer_ms *= factor;
  }
};

struct SwapOptions {
  ArenaOptions arena;
  // The wanted peak: live bytes of the arena plus resident parameters and state.
  int64_t target_bytes = 0;
  // Parameters and state that another program over the same store keeps in the file; no others may
  // lie there. None: free choice.
  std::optional<std::set<std::string>> in_file;
  // Smaller values are not moved: they are not worth a transfer. A page.
  int64_t smallest_bytes = 4096;
  SwapCosts costs;
  // Costs by which the times of the result are predicted; none: costs.
  std::optional<SwapCosts> actual;
};

// Which items are swapped and when they are moved. A graph's transfers follow from this.
struct SwapDecisions {
  // A buffer of the arena, or a parameter or state.
  struct Item {
    int item = 0;           // index among the items that may be swapped
    std::string name;       // of its first value
    std::vector<int> gaps;  // between its accesses, in which it is out of memory
    bool operator==(const Item&) const = default;
  };
  struct Move {
    int read_at = 0;     // node before which a read begins
    int written_at = 0;  // node after which a write must have ended
    bool operator==(const Move&) const = default;
  };
  int64_t smallest_bytes = 0;     // limit below which values were not swapped
  std::set<std::string> in_file;  // parameters and state
  std::vector<Item> items;
  std::vector<Move> moves;  // of their residencies, item by item
  bool operator==(const SwapDecisions&) const = default;
};

// Totals of the transfers of a step.
struct TransferTimes {
  int64_t count = 0;
  int64_t read_bytes = 0;
  int64_t written_bytes = 0;
  double busy_ms = 0.0;
  double stall_ms = 0.0;  // that the step waits for them
};
// Simulates a step with its transfers. costs: node_ms of transfers is ignored. Bytes are as they
// are moved, without rounding to the alignment.
[[nodiscard]] TransferTimes transfer_times(const ir::Graph& graph, const SwapCosts& costs);
// The same of a step with the costs of its nodes without transfers.
[[nodiscard]] TransferTimes times_of(const ir::Graph& graph, SwapCosts costs);

// A step with its transfers.
struct Swapped {
  ir::Graph graph;
  SwapDecisions decisions;
  std::set<std::string> in_file;    // parameters and state; their slots come first, in this order
  std::vector<int64_t> slot_bytes;  // size of each slot in the file
  int64_t peak_bytes = 0;           // largest sum alive, as the target counts it
  TransferTimes times;              // predicted
};

// What is swapped and when it is moved.
struct Transfers {
  std::vector<SwapItem> items;
  Live live;
  std::vector<Residency> residencies;  // sorted by start
  TransferTimes times;                 // predicted

  [[nodiscard]] int64_t peak_bytes() const { return largest(live); }
};

// The target after this one in a series: lower by one part in 64.
[[nodiscard]] int64_t next_target(int64_t target_bytes);

// Chooses the transfers of one step for any number of targets.
//
// Greedy at the peak: the gap between two uses that frees the most bytes above the target, over the
// whole step, per transfer time. Swaps that prove needless are taken back. Then reads begin earlier
// and writes end later, by the duration of the transfer and then by twice that, where the target
// leaves memory. After Rhu et al., "vDNN", 2016, and Huang et al., "SwapAdvisor", 2020.
class SwapChooser {
 public:
  // graph: must outlive it. options: target, costs and actual are those of each choice instead.
  SwapChooser(const ir::Graph& graph, SwapOptions options);

  // Choices for ever lower targets. What is swapped for a target is found once.
  class Series {
   public:
    // chooser: must outlive it. costs: by which transfers are chosen.
    Series(const SwapChooser& chooser, SwapCosts costs);

    // Moves values out of memory until the peak is within the target, or as small as possible.
    // target_bytes: at most that of the choice before. actual: by which times are predicted.
    [[nodiscard]] Transfers choose(int64_t target_bytes, const SwapCosts& actual);

   private:
    struct Choice {
      std::vector<char> out;  // of all items
      Live live;
    };

    const Choice& choice(int64_t target_bytes);
    void place(int64_t chosen_for, int64_t target_bytes);

    const SwapChooser& chooser_;
    SwapOptions options_;
    Transfers now_;
    std::map<int64_t, Choice> choices_;  // by target
  };

  // The step with these transfers. The nodes keep their order and kernels, so every result has the
  // same bits.
  [[nodiscard]] Swapped apply(Transfers transfers) const;

 private:
  const ir::Graph& graph_;
  SwapOptions options_;
  Transfers none_;
};

// One choice, applied.
[[nodiscard]] Swapped swap(const ir::Graph& graph, const SwapOptions& options);
// Applies transfers decided before to the same graph; leaves peak_bytes out. Throws Error if they
// belong to another graph.
[[nodiscard]] Swapped apply_swap(const ir::Graph& graph, const ArenaOptions& options,
                                 const SwapDecisions& decisions, const SwapCosts& costs);

}  // namespace thimble::plan
