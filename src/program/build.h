// From a planned step to a program.
#pragma once

#include <memory>
#include <vector>

#include "plan/arena.h"
#include "plan/budget/search.h"
#include "program/program.h"

namespace thimble::program {

// constants: by value of the step's graph, null where it is none. Throws Error where an op has no
// kernel.
[[nodiscard]] Program build(const plan::Fitted& step, const plan::ArenaOptions& options,
                            const std::vector<std::shared_ptr<const std::byte>>& constants);

}  // namespace thimble::program
