#include "train/saved_activations.h"

#include <fmt/format.h>

#include "ir/op_def.h"

namespace thimble::train {

plan::ActivationStorage saved_activations(DType dtype) {
  if (dtype == DType::f32) return {};
  for (const ir::OpDef* op : ir::all_ops()) {
    const ir::NarrowStorage& narrow = op->memory.narrow;
    if (narrow.as == nullptr) continue;
    ir::Attrs attrs = narrow.as(dtype);
    if (attrs) return {op, std::move(attrs), narrow.load};
  }
  throw Error("saved_activations",
              fmt::format("expected f32, bf16 or f16, got {}", to_string(dtype)));
}

}  // namespace thimble::train
