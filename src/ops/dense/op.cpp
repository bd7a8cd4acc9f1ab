#include <thimble/ops/dense.h>
#include <thimble/ops/matmul.h>

#include <fmt/format.h>

#include "ops/families/builder/layer.h"

// A layer over matmul: it has a builder, but no op of its own.
THIMBLE_OP_FOLDER(dense) { return {}; }

namespace thimble::ops::dense_impl {
namespace {

void check_features(const Shape& x) {
  if (x.rank() >= 2 && x[-1] >= 1) return;
  throw Error("dense", fmt::format("expected x [N, ..., features], got {}; flatten images first",
                                   to_string(x)));
}

}  // namespace
}  // namespace thimble::ops::dense_impl

namespace thimble {

Value dense(Value x, const DenseOptions& options) {
  ops::dense_impl::check_features(x.shape());
  if (options.units < 1) {
    throw Error("dense",
                fmt::format("expected units of at least 1, got {}; set .units", options.units));
  }
  const ir::LayerScope layer(x.graph(), "dense", options.name);
  const int64_t features = x.shape()[-1];
  const Value weight =
      ops::layer_parameter(layer, x, "weight", {options.units, features}, options.weight_init);
  Value bias;
  if (options.bias) {
    bias = ops::layer_parameter(layer, x, "bias", {options.units},
                                ops::bias_rule(options.bias_init, features));
  }
  return matmul(x, weight, bias, {.transpose_b = true});
}

Value dense(Value x, Value weight, Value bias, const std::string& name) {
  ops::dense_impl::check_features(x.shape());
  const int64_t features = x.shape()[-1];
  if (!weight || weight.shape().rank() != 2 || weight.shape()[1] != features) {
    throw Error("dense", fmt::format("expected a weight [units, {}], got {}", features,
                                     weight ? to_string(weight.shape()) : std::string("none")));
  }
  const ir::LayerScope layer(x.graph(), "dense", name);
  return matmul(x, weight, bias, {.transpose_b = true});
}

}  // namespace thimble
