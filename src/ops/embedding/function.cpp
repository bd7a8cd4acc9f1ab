#include <thimble/ops/embedding.h>

#include "ir/function_def.h"

namespace thimble {

void describe(EmbeddingOptions& o, ir::OptionVisitor& v) {
  v.field("embeddings", o.embeddings, "rows of the table; must be set");
  v.field("width", o.width, "of a row; must be set");
  v.field("padding_idx", o.padding_idx,
          "the row of this index is 0 and not trained; -1: all rows are");
  v.field("max_norm", o.max_norm,
          "longer rows are shortened to this norm where they are read; 0: none");
  v.field("norm_type", o.norm_type, "the p of that norm");
  v.field("scale_grad_by_freq", o.scale_grad_by_freq,
          "a row's gradient is the mean over the places it is read");
  v.field("sparse", o.sparse,
          "updates cost what the rows read cost, not what the whole table does");
  v.field("weight_init", o.weight_init, "first values of the weight");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(embedding) {
  static const FunctionDef def{
      .name = "embedding",
      .doc = "An embedding layer: rows of a trained table by their indices.",
      .inputs = {{"indices", "any shape, i32"}},
      .outputs = {{"y", "[the shape of indices, width]"}},
      .parameters = {{"weight", "[embeddings, width]"}},
      .options = ir::OptionSchema::of<EmbeddingOptions>(),
      .required = {"embeddings", "width"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {embedding(in[0], options_as<EmbeddingOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&def};
  return defs;
}
