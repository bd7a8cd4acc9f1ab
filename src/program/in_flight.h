// Transfers between memory and the swap file that have begun and were not awaited.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <vector>

#include "program/program.h"

namespace thimble::program {

// Counts the ranges that cover each part of a line. A call takes O(log marks).
class RangeCounter {
 public:
  // marks: where ranges begin and end, in any order.
  explicit RangeCounter(std::vector<int64_t> marks) : marks_(std::move(marks)) {
    std::sort(marks_.begin(), marks_.end());
    marks_.erase(std::unique(marks_.begin(), marks_.end()), marks_.end());
    nodes_.resize(4 * marks_.size() + 4);
  }
  // Adds a range (count 1) or takes it away (count -1).
  void add(int64_t first, int64_t last, int count) {
    change(0, 0, marks_.size(), position(first), position(last), count);
  }
  // Whether a range lies on any of these bytes.
  [[nodiscard]] bool any(int64_t first, int64_t last) const {
    if (marks_.empty() || first >= last) return false;
    const auto behind = std::upper_bound(marks_.begin(), marks_.end(), first);
    const size_t from = behind == marks_.begin() ? 0 : std::distance(marks_.begin(), behind) - 1;
    return most(0, 0, marks_.size(), from, position(last)) > 0;
  }

 private:
  struct Node {
    int whole = 0;  // ranges that lie on all of it, but not on all of the node above
    int most = 0;   // the most on any of its parts, without those on all of the nodes above
  };
  [[nodiscard]] size_t position(int64_t mark) const {
    return std::distance(marks_.begin(), std::lower_bound(marks_.begin(), marks_.end(), mark));
  }
  // A node stands for parts begin to end - 1; its halves are 2 node + 1 and 2 node + 2.
  void change(size_t node, size_t begin, size_t end, size_t first, size_t last, int count) {
    if (first >= end || last <= begin || begin >= end) return;
    if (first <= begin && end <= last) {
      nodes_[node].whole += count;
      nodes_[node].most += count;
      return;
    }
    const size_t middle = begin + (end - begin) / 2;
    change(2 * node + 1, begin, middle, first, last, count);
    change(2 * node + 2, middle, end, first, last, count);
    nodes_[node].most =
        nodes_[node].whole + std::max(nodes_[2 * node + 1].most, nodes_[2 * node + 2].most);
  }
  [[nodiscard]] int most(size_t node, size_t begin, size_t end, size_t first, size_t last) const {
    if (first >= end || last <= begin || begin >= end) return 0;
    if (first <= begin && end <= last) return nodes_[node].most;
    const size_t middle = begin + (end - begin) / 2;
    return nodes_[node].whole + std::max(most(2 * node + 1, begin, middle, first, last),
                                         most(2 * node + 2, middle, end, first, last));
  }

  std::vector<int64_t> marks_;
  std::vector<Node> nodes_;
};

// Tensors are compared by their bytes, whatever their number. Every question takes the logarithm of
// the number of tensors: files are hostile.
class InFlight {
 public:
  // tensors: those that transfers move.
  explicit InFlight(std::span<const Tensor> tensors)
      : filled_(marks_of(tensors)), all_(marks_of(tensors)) {}

  // tensor: must outlive the transfer. fills: the transfer writes its memory, else it reads it.
  void begin(const Tensor& tensor, int64_t slot, bool fills) {
    transfers_[slot].push_back({&tensor, fills});
    count({&tensor, fills}, 1);
  }
  // All transfers of a slot are over.
  void await(int64_t slot) {
    const auto awaited = transfers_.find(slot);
    if (awaited == transfers_.end()) return;
    for (const Transfer& each : awaited->second) count(each, -1);
    transfers_.erase(awaited);
  }
  // The tensor of a transfer that a read (write) of this memory would disturb; null: none.
  [[nodiscard]] const Tensor* disturbed_by_read(const Tensor& by) const { return find(by, false); }
  [[nodiscard]] const Tensor* disturbed_by_write(const Tensor& by) const { return find(by, true); }
  // The tensor of any transfer; null: none.
  [[nodiscard]] const Tensor* any() const {
    return transfers_.empty() ? nullptr : transfers_.begin()->second.front().tensor;
  }

 private:
  struct Transfer {
    const Tensor* tensor;
    bool fills;
  };
  // Of memory that is no part of the arena.
  struct Counts {
    int filled = 0;
    int all = 0;
  };
  static std::vector<int64_t> marks_of(std::span<const Tensor> tensors) {
    std::vector<int64_t> marks;
    for (const Tensor& tensor : tensors) {
      if (tensor.place != Place::arena) continue;
      marks.push_back(tensor.at);
      marks.push_back(tensor.at + tensor.bytes());
    }
    return marks;
  }
  void count(const Transfer& transfer, int by) {
    const Tensor& tensor = *transfer.tensor;
    if (tensor.bytes() == 0) return;
    if (tensor.place == Place::arena) {
      const int64_t end = tensor.at + tensor.bytes();
      if (transfer.fills) filled_.add(tensor.at, end, by);
      all_.add(tensor.at, end, by);
      return;
    }
    Counts& counts = elsewhere_[{tensor.place, tensor.at}];
    if (transfer.fills) counts.filled += by;
    counts.all += by;
  }
  [[nodiscard]] bool is_disturbed(const Tensor& by, bool writes) const {
    if (by.bytes() == 0) return false;
    if (by.place == Place::arena) {
      return (writes ? all_ : filled_).any(by.at, by.at + by.bytes());
    }
    const auto found = elsewhere_.find({by.place, by.at});
    if (found == elsewhere_.end()) return false;
    return (writes ? found->second.all : found->second.filled) > 0;
  }
  // Looks for the tensor only where there is one: the program is refused then.
  [[nodiscard]] const Tensor* find(const Tensor& by, bool writes) const {
    if (!is_disturbed(by, writes)) return nullptr;
    for (const auto& [slot, of_slot] : transfers_) {
      for (const Transfer& each : of_slot) {
        if ((writes || each.fills) && overlap(*each.tensor, by)) return each.tensor;
      }
    }
    return nullptr;
  }
  static bool overlap(const Tensor& a, const Tensor& b) {
    if (a.place != b.place || a.bytes() == 0 || b.bytes() == 0) return false;
    if (a.place != Place::arena) return a.at == b.at;
    return a.at < b.at + b.bytes() && b.at < a.at + a.bytes();
  }

  RangeCounter filled_;  // by transfers that write memory
  RangeCounter all_;
  std::map<std::pair<Place, int64_t>, Counts> elsewhere_;
  std::map<int64_t, std::vector<Transfer>> transfers_;  // by slot
};

}  // namespace thimble::program
