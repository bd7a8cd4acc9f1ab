// The model that the tests of training in two stages write as circle.
#pragma once

#include <thimble/export.h>
#include <thimble/thimble.h>

#include <cstddef>
#include <string>

#include "ir/graph.h"

namespace thimble::test {

inline constexpr const char* kTwoStagesLoss = "softmax_cross_entropy";
inline constexpr size_t kMostTwoStagesBytes = size_t{1} << 24;

// Every kind of layer whose weights lie in another order in such files.
inline void write_two_stages_model(const std::string& path) {
  Graph g;
  const Value x = g.input("x", {9, 8, 2});
  Value h = relu(conv2d(x, {.channels = 4, .kernel = 3, .padding = 1}));
  h = relu(depthwise_conv2d(h, {.kernel = 3}));
  h = max_pool2d(h, {.kernel = 2});
  h = relu(dense(flatten(h), {.units = 6}));
  g.output("scores", softmax(dense(h, {.units = 3})));
  g.minimize(mse(g.ir().outputs.empty() ? h : Value(&g.ir(), g.ir().outputs[0].second),
                 g.label("t", {3}, DType::f32)));
  Trainer trainer(g, {.batch = 1});
  trainer.save_model(path + ".safetensors");
  export_tflite(load_model(path + ".safetensors"), path);
}

}  // namespace thimble::test
