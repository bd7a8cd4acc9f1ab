#pragma once

#include <thimble/graph.h>
#include <thimble/initializer.h>

#include <cstdint>
#include <string>

namespace thimble {

struct EmbeddingAttrs {
  int64_t padding_idx = -1;  // the row of this index gets no gradient; -1: all rows get theirs
};

// Rows of a table by their indices: y[..., :] = weight[indices[...], :].
// indices: i32, any shape; weight: [V, D], f32; y: the shape of indices, then D. An index that is
// not in [0, V) gives NaN. The gradient of the weight adds up the rows of each index in their
// order, so that its bits are equal with any number of threads. Equal to
// torch.nn.functional.embedding. Errors: Error where shapes do not fit.
Value embedding(Value indices, Value weight, const EmbeddingAttrs& attrs = {});

struct EmbeddingOptions {
  int64_t embeddings = 0;    // rows of the table, V; must be set
  int64_t width = 0;         // of a row, D; must be set
  int64_t padding_idx = -1;  // the row of this index is not trained; -1: all rows are
  Initializer weight_init = init::normal(0.0, 1.0);
  std::string name;  // of the layer; empty: embedding_1, embedding_2, ...
};

// An embedding layer. Adds the parameter <name>.weight [embeddings, width], as torch.nn.Embedding
// has it; unlike there, the row of padding_idx starts as the others do.
Value embedding(Value indices, const EmbeddingOptions& options);

}  // namespace thimble
