// Gradients that read int8 errors, beside those of what the errors stand for.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/reference.h"

namespace thimble::test {

// Sums of integers are exact.
inline constexpr double kExactTolerance = 1e-12;
// An error times a factor that is rounded to int16 misses by half a unit of up to 32,385, 1.5e-5,
// and by more where factors differ. No number here lies so near a half that it is stored as another
// one.
inline constexpr double kFactorTolerance = 1e-4;

// Whether a gradient reads errors times factors that are rounded to int16: all that are summed over
// output channels do.
inline bool has_rounded_factors(const ir::Graph& joined) {
  return std::any_of(joined.nodes.begin(), joined.nodes.end(), [&joined](const ir::Node& n) {
    if (n.op->name != std::string_view("int8_error_input_grad")) return false;
    const auto shape = [&joined](int id) { return joined.data(id).type.shape; };
    const Shape weight = shape(n.inputs[3]);
    const bool is_depthwise =
        weight.rank() == 4 && weight[3] == 1 && shape(n.outputs[0])[-1] == weight[0];
    return !is_depthwise;
  });
}

// Output i of a graph that was run in f64.
inline std::vector<double> output_of(const ir::Graph& graph, const std::vector<ir::Bytes>& values,
                                     size_t i) {
  return ir::to_doubles(values[static_cast<size_t>(graph.outputs[i].second)], ir::Precision::f64);
}

// tolerance: of the norm of what is wanted; least: beside it.
inline void expect_near(const std::vector<double>& found, const std::vector<double>& wanted,
                        double tolerance, const ir::Graph& graph, double least = 0.0) {
  ASSERT_EQ(found.size(), wanted.size());
  double miss = 0.0;
  double norm = 0.0;
  for (size_t k = 0; k < found.size(); ++k) {
    miss += std::pow(found[k] - wanted[k], 2.0);
    norm += std::pow(wanted[k], 2.0);
  }
  EXPECT_LE(std::sqrt(miss), tolerance * std::sqrt(norm) + least) << ir::text(graph);
}

}  // namespace thimble::test
