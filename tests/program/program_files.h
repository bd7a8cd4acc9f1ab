// A small model whose program has everything that programs can have.
#pragma once

#include <thimble/error.h>
#include <thimble/metrics.h>
#include <thimble/ops.h>
#include <thimble/trainer.h>

#include "fuzz/program_checksums.h"

namespace thimble::test {

inline Value mean_squares(Value x) { return mean(mul(x, x)); }

// A classifier with a convolution, a dense layer whose update is tiled, dropout and metrics.
inline Graph small_classifier() {
  Graph g;
  const Value image = g.input("image", {6, 6, 1});
  const Value digit = g.label("digit");
  Value x = relu(conv2d(image, {.channels = 4, .kernel = 3, .padding = 1, .name = "conv"}));
  x = dropout(max_pool2d(x, {.kernel = 2}), {.p = 0.2});
  x = relu(dense(flatten(x), {.units = 1200, .name = "wide"}));
  const Value logits = dense(x, {.units = 5, .name = "last"});
  g.minimize(softmax_cross_entropy(logits, digit));
  g.metric("accuracy", accuracy(logits, digit));
  g.metric("squares", mean_squares(logits));  // a loss of its own for some parameters
  g.metric("f1", f1_score(logits, digit));    // of all samples of an epoch together
  g.output("probabilities", softmax(logits));
  return g;
}

}  // namespace thimble::test
