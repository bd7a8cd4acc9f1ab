// Test cases of ops on 16-bit tensors that are widened to f32 (ir/widened.h).
#pragma once

#include <thimble/ops.h>

#include <cstddef>
#include <vector>

#include "ir/graph.h"

namespace thimble::test {

// An op whose kernel runs on 16-bit tensors a few rows at a time.
struct WidenCase {
  const char* name;
  std::vector<Shape> shapes;
  size_t narrow;  // inputs that are of 16 bits
  void (*build)(ir::Graph&, const std::vector<Value>&);
  std::vector<size_t> sums;  // outputs that are sums over blocks, in another order than f32's
};

inline const std::vector<WidenCase>& widen_cases() {
  static const std::vector<WidenCase> all = {
      {"gelu", {{1000, 301}}, 1, [](auto&, auto& v) { gelu(v[0]); }, {}},
      {"add", {{37, 90, 64}, {37, 90, 64}}, 2, [](auto&, auto& v) { v[0] + v[1]; }, {}},
      {"add_column", {{3000, 70}, {3000, 1}}, 2, [](auto&, auto& v) { v[0] * v[1]; }, {}},
      {"add_row", {{4, 200, 300}, {300}}, 2, [](auto&, auto& v) { v[0] + v[1]; }, {}},
      {"dense_of_steps",
       {{4, 300, 130}, {67, 130}, {67}},
       1,
       [](auto&, auto& v) { matmul(v[0], v[1], v[2], {.transpose_b = true}); },
       {}},
      {"dense",
       {{1001, 130}, {67, 130}, {67}},
       1,
       [](auto&, auto& v) { matmul(v[0], v[1], v[2], {.transpose_b = true}); },
       {}},
      {"matrices", {{40, 60, 90}, {40, 90, 50}}, 2, [](auto&, auto& v) { matmul(v[0], v[1]); }, {}},
      {"weights",
       {{3001, 130}, {3001, 67}},
       2,
       [](auto&, auto& v) { matmul(v[0], v[1], {.transpose_a = true}); },
       {0}},
      {"conv2d",
       {{9, 31, 30, 16}, {24, 3, 3, 16}, {24}},
       1,
       [](auto&, auto& v) { conv2d(v[0], v[1], v[2], {.stride = 2, .padding = 1}); },
       {}},
      {"pointwise",
       {{9, 31, 30, 16}, {24, 1, 1, 16}},
       1,
       [](auto&, auto& v) { conv2d(v[0], v[1], Value(), {}); },
       {}},
      {"depthwise",
       {{9, 31, 30, 32}, {32, 3, 3, 1}},
       1,
       [](auto&, auto& v) { conv2d(v[0], v[1], Value(), {.padding = 1, .groups = 32}); },
       {}},
      {"conv2d_input_grad",
       {{9, 16, 15, 24}, {24, 3, 3, 32}},
       1,
       [](auto&, auto& v) {
         conv2d_input_grad(v[0], v[1], {.size = {31, 29}, .stride = 2, .padding = 1});
       },
       {}},
      {"conv2d_weight_grad",
       {{9, 31, 29, 32}, {9, 16, 15, 24}},
       2,
       [](auto&, auto& v) {
         conv2d_weight_grad(v[0], v[1], {.kernel = 3, .stride = 2, .padding = 1});
       },
       {0}},
      {"conv_transpose2d",
       {{9, 16, 15, 24}, {24, 3, 3, 16}},
       1,
       [](auto&, auto& v) { conv_transpose2d(v[0], v[1], Value(), {.stride = 2}); },
       {}},
      {"max_pool2d",
       {{9, 31, 30, 32}},
       1,
       [](auto&, auto& v) { max_pool2d(v[0], {.kernel = 2}); },
       {}},
      {"average_pool2d",
       {{9, 31, 30, 32}},
       1,
       [](auto&, auto& v) { average_pool2d(v[0], {.kernel = 2}); },
       {}},
      {"softmax", {{1000, 301}}, 1, [](auto&, auto& v) { softmax(v[0]); }, {}},
      {"sum_to", {{9, 31, 30, 33}}, 1, [](auto&, auto& v) { sum_to(v[0], {33}); }, {0}},
      {"layer_norm",
       {{900, 301}, {301}, {301}},
       1,
       [](ir::Graph& g, auto& v) {
         const ir::OpDef& op = *ir::find_op("layer_norm");
         g.add(op, ir::Attrs::defaults(op.signature.attrs), std::vector<Value>(v));
       },
       {}},
  };
  return all;
}

}  // namespace thimble::test
