// Exact search for a packing of at most a given height.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/pack/problem.h"

namespace thimble::plan {

enum class PackOutcome { found, impossible, gave_up };

struct PackSearchResult {
  PackOutcome outcome = PackOutcome::gave_up;
  std::vector<int64_t> offsets;  // per item, if found
  int64_t steps = 0;             // work done, in items and sections looked at
};

// Depth-first over canonical packings, in which every item rests on the ground or on another item.
//
// Each section has a floor: nothing more will lie below it. The search takes a section in a valley
// of the floors (a run of equal height with higher neighbours) and tries every item that may be the
// next one in that section: those whose whole life lies in the valley go right on the floor; the
// last branch leaves a gap and lifts the section's floor to the lowest place anything could then
// take. Floors are also lifted to the lowest place of the items left in the section; a branch is
// given up where a floor plus the sizes still to come exceeds the height. Sections where nothing is
// left cut the rest into independent spans, solved one by one. States proven hopeless are kept in
// a table.
//
// Source: canonical solutions, section inference, dynamic ordering and decomposition are those of
// M. D. Moffitt, "MiniMalloc", ASPLOS 2023. Branching on one section's next item instead of on the
// next item anywhere, and the choice of the section by candidates per failure (after F. Boussemart
// et al., "Boosting systematic search by weighting constraints", ECAI 2004), are our own.
[[nodiscard]] PackSearchResult search_packing(const Problem& problem, int64_t height,
                                              int64_t step_limit);

}  // namespace thimble::plan
