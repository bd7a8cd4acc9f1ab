// Test cases of normalisations.
#pragma once

#include <vector>

#include "harness/op_cases.h"

namespace thimble::test {

// Rounding of sums of up to some thousand values in float, in another order.
inline constexpr double kNormTolerance = 1e-4;

// Cases of ops that normalise the last dimensions. normalised(name, x, dims, epsilon): a case.
template <class F>
std::vector<OpCase> row_norm_cases(const F& normalised) {
  constexpr double kEpsilon = 1e-5;
  return {normalised("rows", {5, 37}, 1, kEpsilon),
          normalised("time_steps", {3, 7, 64}, 1, kEpsilon),
          normalised("two_dimensions", {4, 3, 5}, 2, kEpsilon),
          normalised("everything", {2, 3, 4}, 3, kEpsilon),
          normalised("large_epsilon", {4, 33}, 1, 0.5),
          normalised("one_value", {3, 1}, 1, 0.1),
          normalised("batch_of_1", {1, 130}, 1, kEpsilon),
          normalised("many_rows", {1500, 19}, 1, kEpsilon),
          normalised("long_rows", {3, 5003}, 1, kEpsilon),
          normalised("no_rows", {0, 6}, 1, kEpsilon),
          normalised("empty_rows", {3, 0}, 1, kEpsilon)};
}

// attrs(dims): the attributes.
template <class F>
std::vector<RejectCase> row_norm_rejects(const F& attrs) {
  return {{"too_many_dimensions", {{.shape = {3, 4}}}, attrs(3), "at least the 3"},
          {"no_dimension", {{.shape = {3, 4}}}, attrs(0), "at least 1"},
          {"another_gamma",
           {{.shape = {3, 4}}, {.shape = {3}}},
           attrs(1),
           "expected gamma of shape [4]"},
          {"integers", {{.shape = {3}, .dtype = DType::i32}}, attrs(1), "must be floating"}};
}

// A case of an op with a scale and a shift per channel (unless affine is false) and statistics of
// each sample and group.
inline OpCase channel_norm_case(const char* name, const Shape& x, int64_t groups, bool affine,
                                const ir::Attrs& attrs) {
  const TensorSpec per_channel{.shape = {x[-1]}, .absent = !affine};
  const Shape statistics{x[0], groups};
  return {.name = name,
          .inputs = {{.shape = x}, per_channel, per_channel},
          .attrs = attrs,
          .expect = {x, statistics, statistics},
          .tolerance = kNormTolerance,
          .no_cotangent = {1, 2}};
}

}  // namespace thimble::test
