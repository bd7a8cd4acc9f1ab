// The cases on which every binary op is tested: all kinds of broadcasting, and sizes larger than a
// task.
#pragma once

#include <vector>

#include "harness/op_cases.h"

namespace thimble::test {

// values_a, values_b: the ranges of the operands.
inline std::vector<OpCase> binary_cases(const TensorSpec& values_a, const TensorSpec& values_b) {
  struct Shapes {
    const char* name;
    Shape a;
    Shape b;
    Shape y;
  };
  const Shapes all[] = {
      {"same", {3, 7}, {3, 7}, {3, 7}},
      {"scalar", {3, 7}, {}, {3, 7}},
      {"scalar_first", {}, {5}, {5}},
      {"two_scalars", {}, {1, 1}, {1, 1}},
      {"row", {2, 3, 7}, {7}, {2, 3, 7}},
      {"row_first", {7}, {2, 3, 7}, {2, 3, 7}},
      {"single_column", {5, 1}, {1}, {5, 1}},
      {"long_row", {3, 300}, {300}, {3, 300}},
      {"column", {4, 1}, {4, 37}, {4, 37}},
      {"outer", {5, 1}, {1, 6}, {5, 6}},
      {"middle", {2, 1, 4}, {3, 1}, {2, 3, 4}},
      {"channels_of_images", {2, 3, 5, 4}, {2, 1, 1, 4}, {2, 3, 5, 4}},
      {"empty", {0, 4}, {4}, {0, 4}},
      {"long_vector", {70001}, {70001}, {70001}},
      {"bias_of_many_rows", {5003, 9}, {9}, {5003, 9}},
      {"column_of_short_rows", {5003, 9}, {5003, 1}, {5003, 9}},
      {"column_of_triples_first", {41, 1}, {41, 3}, {41, 3}},
      {"column_of_pairs", {9000, 2}, {9000, 1}, {9000, 2}},
      {"columns_of_long_rows", {2, 40001}, {2, 1}, {2, 40001}},
  };
  std::vector<OpCase> cases;
  for (const Shapes& shapes : all) {
    TensorSpec a = values_a;
    TensorSpec b = values_b;
    a.shape = shapes.a;
    b.shape = shapes.b;
    cases.push_back({.name = shapes.name, .inputs = {a, b}, .expect = {shapes.y}});
  }
  return cases;
}

inline std::vector<RejectCase> binary_rejects() {
  return {{"other_size", {{.shape = {2, 3}}, {.shape = {2}}}, {}, "broadcast"},
          {"doubles", {{.shape = {2}, .dtype = DType::f64}, {.shape = {2}}}, {}, "cast first"},
          {"nine_axes", {{.shape = {1, 1, 1, 1, 1, 1, 1, 1, 1}}, {.shape = {}}}, {}, "at most 8"}};
}

}  // namespace thimble::test
