// Inputs, dense layers, activations, and what only copies.
#include <layer.h>
#include <thimble/ops/add.h>
#include <thimble/ops/affine.h>
#include <thimble/ops/cast.h>
#include <thimble/ops/dense.h>
#include <thimble/ops/div.h>
#include <thimble/ops/dropout.h>
#include <thimble/ops/embedding.h>
#include <thimble/ops/matmul.h>
#include <thimble/ops/max.h>
#include <thimble/ops/mean.h>
#include <thimble/ops/min.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/sqrt.h>
#include <thimble/ops/square.h>
#include <thimble/ops/sub.h>

#include "ml_train/build.h"

namespace thimble::ml_train {
namespace {

using namespace ml::train;

constexpr Property kInput[] = {
    {"normalization", Kind::boolean, "false"},
    {"standardization", Kind::boolean, "false"},
};

// (x - min) / (max - min) over the whole batch, 0 where they are equal.
Value min_max(Value x) {
  const Value least = min(x);
  return div(sub(x, least), affine(sub(max(x), least), {.shift = 1e-30}));
}

// Every sample with mean 0 and standard deviation 1.
Value standardized(Value x) {
  const ReduceOptions sample{.axes = {1, 2, 3}, .keepdims = true};
  const Value centred = sub(x, mean(x, sample));
  return div(centred, affine(sqrt(mean(square(centred), sample)), {.shift = 1e-12}));
}

void build_input(LayerBuild& b) {
  Value x = b.plain();
  if (b.props.boolean("normalization")) x = min_max(x);
  if (b.props.boolean("standardization")) x = standardized(x);
  b.put_plain(x, b.dim());
}

constexpr Property kDense[] = {
    {"unit", Kind::positive, nullptr, "", 0, true},
    {"lora_rank", Kind::positive},
    {"lora_alpha", Kind::real},
};

void build_dense(LayerBuild& b) {
  b.require_inputs(1, 1);
  const Dim in = b.dim();
  const int64_t units = b.props.count("unit");
  const bool lora = b.props.has("lora_rank");
  const Value weight = b.weight({.name = "weight",
                                 .dims = {1, 1, in.w, units},
                                 .shape = {units, in.w},
                                 .order = {0, 1, 3, 2},
                                 .frozen = lora});
  Value bias;
  if (!b.props.boolean("disable_bias")) {
    bias = b.weight({.name = "bias",
                     .dims = {1, 1, 1, units},
                     .shape = {units},
                     .initializer = "bias_initializer",
                     .decay = "bias_decay",
                     .regularizer = nullptr,
                     .frozen = lora});
  }
  // Of [N, 1, 1, w] the layer sees rows, as most kernels like them.
  const bool is_row = in.c == 1 && in.h == 1;
  const Value x = is_row ? reshape(b.plain(), {-1, in.w}) : b.plain();
  Value y = dense(x, weight, bias, b.name());
  if (lora) {
    const int64_t rank = b.props.count("lora_rank");
    const Value down = b.weight({.name = "loraA",
                                 .dims = {1, 1, in.w, rank},
                                 .shape = {in.w, rank},
                                 .initializer = "=zeros"});
    const Value up = b.weight({.name = "loraB",
                               .dims = {1, 1, rank, units},
                               .shape = {rank, units},
                               .initializer = "=lecun_normal"});
    const double scale =
        b.props.has("lora_alpha") ? b.props.real("lora_alpha") / static_cast<double>(rank) : 1.0;
    y = add(y, affine(matmul(matmul(x, down), up), {.scale = scale}));
  }
  const Dim out{in.c, in.h, units};
  b.put_plain(is_row ? reshape(y, {-1, 1, 1, units}) : y, out);
}

void build_activation(LayerBuild& b) {
  b.require_inputs(1, 1);
  const std::string name = b.props.choice("activation");
  b.require(b.props.given("activation"), "the property activation is missing");
  if (name == "softmax") {
    b.put_plain(activated(b.plain(), name), b.dim());
  } else {
    b.put_same(activated(b.same_form(0), name), b.dim());
  }
}

constexpr Property kFlatten[] = {
    {"start_dimension", Kind::positive, "1"},
    {"end_dimension", Kind::positive, "3"},
};

void build_flatten(LayerBuild& b) {
  b.require_inputs(1, 1);
  const int64_t start = b.props.count("start_dimension");
  const int64_t end = b.props.count("end_dimension");
  b.require(start <= end && end <= 3,
            "start_dimension and end_dimension are 1 (channel) to 3 (width), in that order");
  const Dim in = b.dim();
  int64_t sizes[4] = {1, in.c, in.h, in.w};
  for (int64_t i = start; i < end; ++i) {
    sizes[end] *= sizes[i];
    sizes[i] = 1;
  }
  const Dim out{sizes[1], sizes[2], sizes[3]};
  b.put_plain(reshape(b.plain(), {-1, out.c, out.h, out.w}), out);
}

constexpr Property kReshape[] = {{"target_shape", Kind::text, nullptr, "", 0, true}};

void build_reshape(LayerBuild& b) {
  b.require_inputs(1, 1);
  const std::string text = without_blanks(b.props.choice("target_shape"));
  Dim out{1, 1, b.dim().elements()};
  if (text != "-1") {
    static constexpr Property kShape[] = {{"target_shape", Kind::shape}};
    PropertySet checked(b.props.owner(), {kShape});
    checked.set("target_shape", text);
    const std::vector<int64_t> sizes = checked.shapes("target_shape").front();
    out = {sizes[1], sizes[2], sizes[3]};
  }
  b.require(out.elements() == b.dim().elements(),
            "target_shape " + to_string(out) + " has another number of elements than the input, " +
                to_string(b.dim()));
  b.put_plain(reshape(b.plain(), {-1, out.c, out.h, out.w}), out);
}

void build_copies(LayerBuild& b) {
  b.require_inputs(1, 1);
  for (int i = 0; i < b.output_count(); ++i) b.pass(0);
}

void build_identity(LayerBuild& b) {
  for (int i = 0; i < b.inputs(); ++i) b.pass(i);
}

constexpr Property kDropout[] = {{"dropout_rate", Kind::real, "0"}};

void build_dropout(LayerBuild& b) {
  const double p = b.props.real("dropout_rate");
  b.require(p >= 0.0 && p < 1.0, "dropout_rate is from 0 to below 1");
  for (int i = 0; i < b.inputs(); ++i) {
    Tensor& in = b.input(i);
    if (p == 0.0) {
      b.pass(i);
    } else if (in.is_image()) {
      b.put_image(dropout(in.image(), {.p = p}), in.dim());
    } else {
      b.put_plain(dropout(in.plain(), {.p = p}), in.dim());
    }
  }
}

constexpr Property kEmbedding[] = {
    {"in_dim", Kind::positive, nullptr, "", 0, true},
    {"out_dim", Kind::positive, nullptr, "", 0, true},
};

void build_embedding(LayerBuild& b) {
  b.require_inputs(1, 1);
  const Dim in = b.dim();
  b.require(in.c == 1 && in.h == 1, "expected indexes of the shape 1:1:t, got " + to_string(in));
  const int64_t rows = b.props.count("in_dim");
  const int64_t width = b.props.count("out_dim");
  const Value table =
      b.weight({.name = "Embedding", .dims = {1, 1, rows, width}, .shape = {rows, width}});
  const Value index = cast(reshape(b.plain(), {-1, in.w}), DType::i32);
  b.put_plain(reshape(embedding(index, table), {-1, 1, in.w, width}), {1, in.w, width});
}

}  // namespace

void add_basic_layers(std::vector<LayerKind>& kinds) {
  kinds.insert(
      kinds.end(),
      {{"input", LAYER_IN, {kInput}, build_input},
       {"fully_connected", LAYER_FC, {kDense, weight_properties()}, build_dense},
       {"activation", LAYER_ACTIVATION, {}, build_activation},
       {"flatten", LAYER_FLATTEN, {kFlatten}, build_flatten},
       {"reshape", LAYER_RESHAPE, {kReshape}, build_reshape},
       {"multiout", LAYER_MULTIOUT, {}, build_copies},
       {"identity", LAYER_IDENTITY, {}, build_identity},
       {"dropout", LAYER_DROPOUT, {kDropout}, build_dropout},
       {"embedding", LAYER_EMBEDDING, {kEmbedding, weight_properties()}, build_embedding}});
}

}  // namespace thimble::ml_train
