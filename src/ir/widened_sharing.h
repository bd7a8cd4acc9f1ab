// How a widened call (ir/widened.h) uses its memory: which copies share one buffer, and whether
// only its result is divided.
#pragma once

#include "ir/op_def.h"
#include "ir/widened.h"

namespace thimble::ir {

// The input whose f32 copy the f32 result of an output takes the place of, or -1: the op's kernels
// may write that result over that input (MemoryRule::in_place). Of the fast kernel only.
// tensor: inputs, then outputs.
[[nodiscard]] inline int input_sharing_copy(const OpDef& op, const WidenedHeader& header,
                                            int tensor) {
  int taken[kMostWidened];  // by input: the output, or -1
  for (int& output : taken) output = -1;
  for (const Alias& alias : op.memory.in_place) {
    const int output = header.inputs + alias.out;
    if (alias.in >= header.inputs || output >= header.inputs + header.outputs) continue;
    if (header.narrow[alias.in] == 0 || header.narrow[output] == 0) continue;
    if (header.elements[alias.in] != header.elements[output]) continue;
    if (header.is_divided(alias.in) != header.is_divided(output) || header.is_sum(output)) continue;
    bool has_one = taken[alias.in] >= 0;
    for (int in = 0; in < header.inputs; ++in) has_one = has_one || taken[in] == output;
    if (has_one) continue;
    taken[alias.in] = output;
    if (output == tensor) return alias.in;
  }
  return -1;
}

// Whether rows of the one output alone are computed a block at a time, by the op's PartRule, from
// inputs that are widened whole. Of the fast kernel only.
[[nodiscard]] inline bool computes_parts(const WidenedHeader& header) {
  if (header.rows == 1) return false;
  bool divides_input = false;
  for (int in = 0; in < header.inputs; ++in) divides_input |= header.is_divided(in);
  return !divides_input;
}
inline constexpr size_t kMostPartParams = 256;  // bytes of the f32 kernel's parameters

}  // namespace thimble::ir
