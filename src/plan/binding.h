// The peak: the moment of a step in which most memory is in use.
#pragma once

#include <thimble/plan.h>

#include <string>
#include <vector>

namespace thimble::plan {

// Buffers alive at the binding moment, the largest first. They point into the plan.
[[nodiscard]] std::vector<const PlanBuffer*> binding_buffers(const Plan& plan);

// "conv2d of encoder": the op that needs most. There must be steps.
[[nodiscard]] std::string binding_op(const Plan& plan);

// "peak at conv2d of encoder, with image (100,352 B) and relu (50,176 B)": that op and its three
// largest buffers, for a line of an error.
[[nodiscard]] std::string binding_text(const Plan& plan);

// "No swap file: there is no disk. ": why there is none, where it was wanted; else nothing.
[[nodiscard]] std::string no_swap_text(const Plan& plan);

// "take a smaller batch": what takes less memory than the plan, for the end of an error.
[[nodiscard]] std::string smaller_ways(const Plan& plan);

}  // namespace thimble::plan
