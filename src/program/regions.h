// Who wrote which bytes of an arena last.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace thimble::program {

// Memory grows with the number of pieces, not with the arena.
class Regions {
 public:
  // Bytes first to last - 1 are `owner`'s from here on.
  void write(int64_t first, int64_t last, int owner) {
    if (first >= last) return;
    split(first);
    split(last);
    pieces_.erase(pieces_.lower_bound(first), pieces_.lower_bound(last));
    pieces_[first] = {last, owner};
  }

  // Whether all of them are.
  [[nodiscard]] bool holds(int64_t first, int64_t last, int owner) const {
    if (first >= last) return true;
    auto piece = pieces_.upper_bound(first);
    if (piece == pieces_.begin()) return false;
    --piece;
    while (piece->second.owner == owner && piece->second.last > first) {
      if (piece->second.last >= last) return true;
      first = piece->second.last;
      if (++piece == pieces_.end() || piece->first != first) return false;
    }
    return false;
  }

 private:
  struct Content {
    int64_t last;
    int owner;
  };
  // Lets no piece reach across a place.
  void split(int64_t at) {
    const auto behind = pieces_.upper_bound(at);
    if (behind == pieces_.begin()) return;
    auto& [begin, content] = *std::prev(behind);
    if (begin >= at || content.last <= at) return;
    const Content rest = content;
    content.last = at;
    pieces_[at] = rest;
  }

  std::map<int64_t, Content> pieces_;
};

}  // namespace thimble::program
