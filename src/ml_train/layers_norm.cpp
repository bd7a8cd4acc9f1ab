// Normalization.
#include <layer.h>
#include <thimble/ops/affine.h>
#include <thimble/ops/batch_norm.h>
#include <thimble/ops/div.h>
#include <thimble/ops/layer_norm.h>
#include <thimble/ops/norm.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/rms_norm.h>
#include <thimble/ops/transpose.h>

#include <algorithm>

#include "ml_train/build.h"

namespace thimble::ml_train {
namespace {

using namespace ml::train;

constexpr Property kBatchNorm[] = {
    {"epsilon", Kind::real, "0.001"},
    {"momentum", Kind::real, "0.99"},
    {"axis", Kind::positive},
    {"moving_mean_initializer", Kind::choice, "zeros", kInitializers},
    {"moving_variance_initializer", Kind::choice, "ones", kInitializers},
    {"gamma_initializer", Kind::choice, "ones", kInitializers},
    {"beta_initializer", Kind::choice, "zeros", kInitializers},
    {"weight_decay", Kind::real, "0"},
    {"bias_decay", Kind::real, "0"},
};

void build_batch_norm(LayerBuild& b) {
  b.require_inputs(1, 1);
  const Dim in = b.dim();
  const int64_t axis = b.props.has("axis") ? b.axis() : in.c > 1 ? 1 : 3;
  const int64_t n = in.extent(axis);
  Dims dims{1, 1, 1, 1};
  dims[static_cast<size_t>(axis)] = n;
  const auto statistic = [&](const char* name, const char* initializer) {
    return b.weight({.name = name,
                     .dims = dims,
                     .shape = {n},
                     .initializer = initializer,
                     .decay = nullptr,
                     .regularizer = nullptr,
                     .is_statistic = true});
  };
  const auto trained = [&](const char* name, const char* initializer, const char* decay) {
    return b.weight({.name = name,
                     .dims = dims,
                     .shape = {n},
                     .initializer = initializer,
                     .decay = decay,
                     .regularizer = nullptr});
  };
  const Value mean = statistic("moving_mean", "moving_mean_initializer");
  const Value variance = statistic("moving_variance", "moving_variance_initializer");
  const Value gamma = trained("gamma", "gamma_initializer", "weight_decay");
  const Value beta = trained("beta", "beta_initializer", "bias_decay");
  const double momentum = b.props.real("momentum");
  b.require(momentum >= 0.0 && momentum <= 1.0, "momentum is from 0 to 1");
  b.require(b.props.real("epsilon") >= 0.0, "epsilon is 0 or more");
  const BatchNormOptions options{.momentum = 1.0 - momentum,
                                 .epsilon = b.props.real("epsilon"),
                                 .biased_running_variance = true,
                                 .name = b.name()};
  const auto normalized = [&](Value x) {
    return batch_norm(x, gamma, beta, mean, variance, options);
  };
  if (axis == 1) {
    b.put_image(normalized(b.image()), in);
  } else if (axis == 3) {
    b.put_plain(normalized(b.plain()), in);
  } else {
    const std::vector<int64_t> swapped{0, 1, 3, 2};
    b.put_plain(transpose(normalized(transpose(b.plain(), swapped)), swapped), in);
  }
}

constexpr Property kLayerNorm[] = {
    {"axis", Kind::integers, nullptr, "", 0, true},
    {"epsilon", Kind::real, "0.001"},
    {"gamma_initializer", Kind::choice, "ones", kInitializers},
    {"beta_initializer", Kind::choice, "zeros", kInitializers},
    {"weight_decay", Kind::real, "0"},
    {"bias_decay", Kind::real, "0"},
};

void build_layer_norm(LayerBuild& b) {
  b.require_inputs(1, 1);
  const Dim in = b.dim();
  std::vector<int64_t> axes = b.props.integers("axis");
  std::sort(axes.begin(), axes.end());
  b.require(axes.back() <= 3 && std::adjacent_find(axes.begin(), axes.end()) == axes.end(),
            "axis lists some of 1 (channel), 2 (height), 3 (width)");
  Dims dims{1, 1, 1, 1};
  std::vector<int64_t> sizes;
  for (const int64_t axis : axes) {
    sizes.push_back(in.extent(axis));
    dims[static_cast<size_t>(axis)] = sizes.back();
  }
  const auto trained = [&](const char* name, const char* initializer, const char* decay) {
    return b.weight({.name = name,
                     .dims = dims,
                     .shape = Shape(sizes),
                     .initializer = initializer,
                     .decay = decay,
                     .regularizer = nullptr});
  };
  const Value gamma = trained("gamma", "gamma_initializer", "weight_decay");
  const Value beta = trained("beta", "beta_initializer", "bias_decay");
  // The axes come last.
  std::vector<int64_t> order{0};
  for (int64_t axis = 1; axis <= 3; ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) order.push_back(axis);
  }
  order.insert(order.end(), axes.begin(), axes.end());
  std::vector<int64_t> back(4);
  for (int64_t i = 0; i < 4; ++i) back[static_cast<size_t>(order[static_cast<size_t>(i)])] = i;
  const bool moves = order != back || !std::is_sorted(order.begin(), order.end());
  Value x = moves ? transpose(b.plain(), order) : b.plain();
  x = layer_norm(x, gamma, beta,
                 {.dims = static_cast<int64_t>(axes.size()), .epsilon = b.props.real("epsilon")});
  b.put_plain(moves ? transpose(x, back) : x, in);
}

constexpr Property kL2Norm[] = {{"epsilon", Kind::real, "0.001"}};

void build_l2_norm(LayerBuild& b) {
  b.require_inputs(1, 1);
  b.require(b.dim().c == 1 && b.dim().h == 1,
            "expected an input of the shape 1:1:w, got " + to_string(b.dim()));
  const Value length = norm(b.plain(), {.axes = {3}, .keepdims = true});
  b.put_plain(div(b.plain(), affine(length, {.shift = b.props.real("epsilon")})), b.dim());
}

constexpr Property kRmsNorm[] = {
    {"epsilon", Kind::real, "0.001"},
    {"gamma_initializer", Kind::choice, "ones", kInitializers},
    {"weight_decay", Kind::real, "0"},
    {"print", Kind::boolean, "false"},
};

void build_rms_norm(LayerBuild& b) {
  b.require_inputs(1, 1);
  const int64_t w = b.dim().w;
  const Value gamma = b.weight({.name = "gamma",
                                .dims = {1, 1, 1, w},
                                .shape = {w},
                                .initializer = "gamma_initializer",
                                .regularizer = nullptr});
  b.put_plain(rms_norm(b.plain(), gamma, {.epsilon = b.props.real("epsilon")}), b.dim());
}

}  // namespace

void add_norm_layers(std::vector<LayerKind>& kinds) {
  kinds.insert(kinds.end(),
               {{"batch_normalization", LAYER_BN, {kBatchNorm}, build_batch_norm},
                {"layer_normalization", LAYER_LAYER_NORMALIZATION, {kLayerNorm}, build_layer_norm},
                {"preprocess_l2norm", LAYER_PREPROCESS_L2NORM, {kL2Norm}, build_l2_norm},
                {"rmsnorm", LAYER_RMSNORM, {kRmsNorm}, build_rms_norm}});
}

}  // namespace thimble::ml_train
