#pragma once

#include <thimble/graph.h>
#include <thimble/initializer.h>

#include <cstdint>
#include <string>

namespace thimble {

struct EmbeddingAttrs {
  int64_t padding_idx = -1;  // the row with this index gets no gradient; -1: all rows do
  double max_norm = 0.0;     // longer rows are scaled to this norm when they are read; 0: none
  double norm_type = 2.0;    // the p of that norm, above 0
  bool scale_grad_by_freq =
      false;            // a row's gradient is the mean over its occurrences, not the sum
  bool sparse = false;  // the weight's gradient is sparse: see below
};
void describe(EmbeddingAttrs& attrs, ir::FieldVisitor& visitor);

// Rows of a table by their indices: y[..., :] = weight[indices[...], :].
// indices: i32, any shape; weight: [V, D], f32; y: the shape of indices, then D. An index that is
// not in [0, V) gives NaN. The gradient of the weight adds up the rows of each index in their
// order, so that its bits are equal with any number of threads. Equal to
// torch.nn.functional.embedding; with a max_norm, a training step shortens the rows of a parameter
// as it updates them, inference leaves the stored rows as they are.
//
// sparse: a training step computes, keeps and applies the gradient of the rows that were read
// alone; all others cost nothing, whatever V is. The optimizers SGD, Adagrad, Adam, AdamW and
// SparseAdam take it, as far as their settings do not reach other rows (a momentum, a weight
// decay), with SparseAdam's meaning: moments of other rows stay as they are. A weight that is also
// used elsewhere has a whole gradient all the same. Errors: Error where shapes do not fit.
Value embedding(Value indices, Value weight, const EmbeddingAttrs& attrs = {});

struct EmbeddingOptions {
  int64_t embeddings = 0;    // number of rows of the table, V; must be set
  int64_t width = 0;         // width of a row, D; must be set
  int64_t padding_idx = -1;  // the row with this index is 0 and not trained; -1: none
  double max_norm = 0.0;     // longer rows are scaled to this norm when they are read; 0: none
  double norm_type = 2.0;    // the p of that norm
  bool scale_grad_by_freq =
      false;            // a row's gradient is the mean over its occurrences, not the sum
  bool sparse = false;  // the cost of an update depends on the rows read, not on the table
  Initializer weight_init = init::normal(0.0, 1.0);
  std::string name;  // of the layer; empty: embedding_1, embedding_2, ...
};

// An embedding layer. Adds the parameter <name>.weight [embeddings, width], as torch.nn.Embedding
// has it.
Value embedding(Value indices, const EmbeddingOptions& options);

}  // namespace thimble
