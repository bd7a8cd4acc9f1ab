// The peak: the moment of a step in which most memory is in use.
#pragma once

#include <thimble/plan.h>

#include <string>
#include <vector>

namespace thimble::plan {

// Buffers alive at the binding moment, the largest first. They point into the plan.
[[nodiscard]] std::vector<const PlanBuffer*> binding_buffers(const Plan& plan);

// "conv2d of encoder": the op at the peak. The plan must have steps.
[[nodiscard]] std::string binding_op(const Plan& plan);

// "peak at conv2d of encoder, with image (100,352 B) and relu (50,176 B)": the op at the peak and
// the three largest buffers there, for an error message.
[[nodiscard]] std::string binding_text(const Plan& plan);

// "No swap file: there is no disk. ": the reason, if a swap file was wanted; else empty.
[[nodiscard]] std::string no_swap_text(const Plan& plan);

// "take a smaller batch": advice at the end of an error message on how to use less memory.
[[nodiscard]] std::string smaller_ways(const Plan& plan);

}  // namespace thimble::plan
