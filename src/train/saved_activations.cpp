#include "train/saved_activations.h"

#include <fmt/format.h>
#include <thimble/ops/half_storage.h>

#include "ops/families/move/half_storage.h"
#include "ops/half_storage/attrs.h"

namespace thimble::train {

plan::ActivationStorage saved_activations(DType dtype) {
  if (dtype == DType::f32) return {};
  if (!ops::is_half(dtype)) {
    throw Error("saved_activations",
                fmt::format("expected f32, bf16 or f16, got {}", to_string(dtype)));
  }
  return {&ops::to_half_op(), ir::Attrs::of(ToHalfAttrs{dtype}), &ops::from_half_op()};
}

}  // namespace thimble::train
