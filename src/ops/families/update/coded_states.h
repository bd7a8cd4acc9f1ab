// States kept in 8 bits an element (block_codes.h), of rules whose settings have state_bits and
// min_8bit_size. The kernels' parameters have the fields n and blocks; 0 blocks: states are f32.
#pragma once

#include "ir/kernel.h"
#include "ops/families/update/block_codes.h"
#include "ops/families/update/update.h"

namespace thimble::ops {

template <class S>
void check_state_bits(const S& s, const SettingChecks& checks) {
  checks.require(s.state_bits == 32 || s.state_bits == 8, "state_bits must be 32 or 8",
                 static_cast<double>(s.state_bits));
}

[[nodiscard]] constexpr int64_t blocks_of(int64_t elements) {
  return (elements + BLOCK_ELEMENTS - 1) / BLOCK_ELEMENTS;
}

// Number of blocks of each state of a parameter; 0: they are f32.
template <class S>
[[nodiscard]] int64_t coded_blocks(const S& s, const Shape& param) {
  const int64_t n = param.elements();
  return s.state_bits == 32 || n < s.min_8bit_size ? 0 : blocks_of(n);
}

// Makes parameters those of n elements.
template <class Dims>
void resize_blocks(Dims& d, int n) {
  d.n = n;
  if (d.blocks > 0) d.blocks = static_cast<int>(blocks_of(n));
}

// The kernel for the form that the states have.
template <class Dims, auto whole, auto coded>
ir::KernelFn chosen_kernel(const void* params) {
  const bool is_coded = static_cast<const Dims*>(params)->blocks > 0;
  return is_coded ? ir::kernel_fn<coded>() : ir::kernel_fn<whole>();
}
template <class Dims, auto whole, auto coded>
void run_chosen(const ir::KernelCall& call) {
  chosen_kernel<Dims, whole, coded>(call.params)(call);
}
template <class Dims, auto whole, auto coded>
const char* name_of_chosen(const void* params) {
  return chosen_kernel<Dims, whole, coded>(params).name(params);
}
template <class Dims, auto whole, auto coded>
inline constexpr ir::KernelTraits kTraitsOfChosen{name_of_chosen<Dims, whole, coded>, true};
template <class Dims, auto whole, auto coded>
inline constexpr ir::KernelFn whole_or_coded{run_chosen<Dims, whole, coded>,
                                             &kTraitsOfChosen<Dims, whole, coded>};

}  // namespace thimble::ops
