// Small models and data for tests.
#pragma once

#include <thimble/data.h>
#include <thimble/graph.h>
#include <thimble/ops.h>

#include <cmath>
#include <vector>

namespace thimble::test {

// conv2d, batch_norm, relu, dense; mean squared error against a label of 3 numbers.
inline Graph small_network() {
  Graph g;
  const Value image = g.input("image", {8, 8, 2});
  const Value wanted = g.label("wanted", {3}, DType::f32);
  Value x = conv2d(image, {.channels = 5, .kernel = 3, .stride = 2, .padding = 1, .name = "conv"});
  x = relu(batch_norm(x, {.name = "norm"}));
  x = dense(reshape(x, {-1, 4 * 4 * 5}), {.units = 3, .name = "dense"});
  const Value error = x - wanted;
  g.minimize(mean(error * error));
  g.output("guess", x);
  return g;
}

// Images of waves; wanted: three sums over them. A function that small_network can learn.
inline data::Dataset small_data(int64_t count) {
  std::vector<float> images;
  std::vector<float> wanted;
  for (int64_t i = 0; i < count; ++i) {
    float sums[3] = {0.0F, 0.0F, 0.0F};
    for (int64_t k = 0; k < 8 * 8 * 2; ++k) {
      const float v = std::sin(0.37F * static_cast<float>(i * 31 + k * (i % 7 + 1)));
      images.push_back(v);
      sums[k % 3] += v / 20.0F;
    }
    wanted.insert(wanted.end(), sums, sums + 3);
  }
  return data::in_memory({{"image", {8, 8, 2}}, {"wanted", {3}, DType::f32, true}},
                         {images, wanted});
}

}  // namespace thimble::test
