#pragma once

#include <thimble/graph.h>

#include <functional>

namespace thimble {

// A function of single steps, applied to every step of sequences: the steps are made a part of the
// batch, so that layers see [N * T, ...]. x: [N, T, ...], any type; y: [N, T, ...] where the
// function gives [N * T, ...]. One set of parameters serves all steps.
//   auto y = time_distributed(video, [](Value frame) { return conv2d(frame, {.channels = 8}); });
// Errors: Error where x has fewer than 2 dimensions or the function changes the first one.
Value time_distributed(Value x, const std::function<Value(Value)>& function);

}  // namespace thimble
