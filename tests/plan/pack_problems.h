// Packing problems for the tests.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "plan/pack/pack.h"

namespace thimble::plan {

// A rectangle of 100 times by 1000 bytes cut into random pieces. Its bound is 1000, and greedy
// packings are above it. std::mt19937_64 gives the same numbers everywhere, the standard's
// distributions do not.
inline std::vector<Buffer> cut_rectangle(size_t pieces, uint64_t seed) {
  struct Piece {
    int64_t begin, end, bottom, top;
  };
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t limit) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
  };
  std::vector<Piece> list = {{0, 100, 0, 1000}};
  while (list.size() < pieces) {
    Piece& piece = list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
    Piece other = piece;
    const bool in_time = below(2) == 0;
    if (in_time && piece.end - piece.begin > 1) {
      piece.end = other.begin = piece.begin + 1 + below(piece.end - piece.begin - 1);
    } else if (!in_time && piece.top - piece.bottom > 1) {
      piece.top = other.bottom = piece.bottom + 1 + below(piece.top - piece.bottom - 1);
    } else {
      continue;
    }
    list.push_back(other);
  }
  std::vector<Buffer> buffers;
  for (const Piece& p : list) buffers.push_back({p.begin, p.end, p.top - p.bottom});
  return buffers;
}

}  // namespace thimble::plan
