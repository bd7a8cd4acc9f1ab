#include <fmt/format.h>
#include <thimble/ops/add.h>
#include <thimble/ops/positional_encoding.h>

#include <cmath>

#include "ir/own_constant.h"

// A sum with a table: it has a builder, but no op of its own.
THIMBLE_OP_FOLDER(positional_encoding) { return {}; }

namespace thimble::ops::positional_encoding_impl {
namespace {

// [steps, width]
Array table_of(int64_t steps, int64_t width, const PositionalEncodingOptions& options) {
  std::vector<float> table;
  for (int64_t t = 0; t < steps; ++t) {
    for (int64_t i = 0; i < width; ++i) {
      const double share = static_cast<double>(i - i % 2) / static_cast<double>(width);
      const double angle = static_cast<double>(t + options.offset) * std::pow(options.base, -share);
      table.push_back(static_cast<float>(i % 2 == 0 ? std::sin(angle) : std::cos(angle)));
    }
  }
  return Array(std::move(table), {steps, width});
}

// The same as a constant; reuses an equal one of the graph.
Value positions(ir::Graph& graph, int64_t steps, int64_t width,
                const PositionalEncodingOptions& options) {
  return ir::own_constant(
      graph, fmt::format("@positions_{}_{}_{}_{}", steps, width, options.base, options.offset),
      table_of(steps, width, options));
}

}  // namespace
}  // namespace thimble::ops::positional_encoding_impl

namespace thimble {

Value positional_encoding(Value x, const PositionalEncodingOptions& options) {
  if (x.shape().rank() != 3) {
    throw Error("positional_encoding",
                fmt::format("expected x [N, T, D], got {}", to_string(x.shape())));
  }
  if (!(options.base > 0.0) || !std::isfinite(options.base)) {
    throw Error("positional_encoding",
                fmt::format("expected a base above 0, got {}", options.base));
  }
  return add(
      x, ops::positional_encoding_impl::positions(x.graph(), x.shape()[1], x.shape()[2], options));
}

}  // namespace thimble
