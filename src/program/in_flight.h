// Transfers between memory and the swap file that have begun and were not awaited.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "program/program.h"

namespace thimble::program {

// Tensors are compared by their bytes, whatever their number.
class InFlight {
 public:
  // tensor: must outlive the transfer. fills: the transfer writes its memory, else it reads it.
  void begin(const Tensor& tensor, int64_t slot, bool fills) {
    transfers_.push_back({&tensor, slot, fills});
  }
  // All transfers of a slot are over.
  void await(int64_t slot) {
    std::erase_if(transfers_, [slot](const Transfer& each) { return each.slot == slot; });
  }
  // The tensor of a transfer that a read (write) of this memory would disturb; null: none.
  [[nodiscard]] const Tensor* disturbed_by_read(const Tensor& by) const { return find(by, false); }
  [[nodiscard]] const Tensor* disturbed_by_write(const Tensor& by) const { return find(by, true); }
  // The tensor of any transfer; null: none.
  [[nodiscard]] const Tensor* any() const {
    return transfers_.empty() ? nullptr : transfers_.front().tensor;
  }

 private:
  struct Transfer {
    const Tensor* tensor;
    int64_t slot;
    bool fills;
  };
  [[nodiscard]] const Tensor* find(const Tensor& by, bool writes) const {
    for (const Transfer& each : transfers_) {
      if ((writes || each.fills) && overlap(*each.tensor, by)) return each.tensor;
    }
    return nullptr;
  }
  static bool overlap(const Tensor& a, const Tensor& b) {
    if (a.place != b.place || a.bytes() == 0 || b.bytes() == 0) return false;
    if (a.place != Place::arena) return a.at == b.at;
    return a.at < b.at + b.bytes() && b.at < a.at + a.bytes();
  }

  std::vector<Transfer> transfers_;
};

}  // namespace thimble::program
