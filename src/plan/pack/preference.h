// The orders in which packers prefer buffers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/pack/problem.h"

namespace thimble::plan {

using Keys = std::array<Key, 3>;

// Keys whose orders are tried first.
inline constexpr std::array<Keys, 6> kKeys = {{
    {Key::load, Key::area, Key::size},
    {Key::area, Key::load, Key::size},
    {Key::duration, Key::size, Key::load},
    {Key::size, Key::duration, Key::area},
    {Key::load_sum, Key::duration, Key::area},
    {Key::overlaps, Key::area, Key::size},
}};

// places[i]: the place of scores[i] when sorted, the smallest first; ties go by index.
[[nodiscard]] std::vector<int> places(std::span<const int64_t> scores);

// rank[item]: its place in the order of these keys, 0 first. Ties go by index.
[[nodiscard]] std::vector<int> rank_by(const Keys& keys, const Problem& problem);

}  // namespace thimble::plan
