// Sums, products and functions of single elements.
#include <layer.h>
#include <thimble/ops/add.h>
#include <thimble/ops/cos.h>
#include <thimble/ops/div.h>
#include <thimble/ops/matmul.h>
#include <thimble/ops/mean.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/neg.h>
#include <thimble/ops/pow.h>
#include <thimble/ops/sin.h>
#include <thimble/ops/sqrt.h>
#include <thimble/ops/sub.h>
#include <thimble/ops/sum.h>
#include <thimble/ops/swish.h>
#include <thimble/ops/tan.h>

#include "ml_train/build.h"

namespace thimble::ml_train {
namespace {

using namespace ml::train;

constexpr Property kPlain[] = {
    {"print", Kind::boolean, "false"},
    {"inplace", Kind::boolean, "true"},
    {"inplace_direction", Kind::choice, nullptr, "left right none"},
};
constexpr Property kPow[] = {{"exponent", Kind::real, "1"}};
constexpr Property kAddition[] = {{"print", Kind::boolean, "false"}};

void require_equal(LayerBuild& b, int i) {
  b.require(b.dim(i) == b.dim(0), "expected inputs of one shape, got " + to_string(b.dim(0)) +
                                      " and " + to_string(b.dim(i)));
}

void build_addition(LayerBuild& b) {
  b.require_inputs(1, 1 << 20);
  Value sum = b.same_form(0);
  for (int i = 1; i < b.inputs(); ++i) {
    require_equal(b, i);
    sum = add(sum, b.same_form(i));
  }
  b.put_same(sum, b.dim());
}

std::function<void(LayerBuild&)> binary(Value (*op)(Value, Value)) {
  return [op](LayerBuild& b) {
    b.require_inputs(2, 2);
    require_equal(b, 1);
    b.put_same(op(b.same_form(0), b.same_form(1)), b.dim());
  };
}

std::function<void(LayerBuild&)> unary(Value (*op)(Value)) {
  return [op](LayerBuild& b) {
    b.require_inputs(1, 1);
    b.put_same(op(b.same_form(0)), b.dim());
  };
}

void build_pow(LayerBuild& b) {
  b.require_inputs(1, 1);
  b.put_same(pow(b.same_form(0), b.props.real("exponent")), b.dim());
}

void build_matmul(LayerBuild& b) {
  b.require_inputs(2, 2);
  const Dim x = b.dim(0);
  const Dim y = b.dim(1);
  b.require(x.c == y.c && x.w == y.h,
            "expected c:h:k and c:k:w, got " + to_string(x) + " and " + to_string(y));
  b.put_plain(matmul(b.plain(0), b.plain(1)), {x.c, x.h, y.w});
}

void build_swiglu(LayerBuild& b) {
  b.require_inputs(2, 2);
  require_equal(b, 1);
  b.put_same(mul(swish(b.same_form(0)), b.same_form(1)), b.dim());
}

constexpr Property kReduce[] = {{"axis", Kind::positive, nullptr, "", 0, true}};

std::function<void(LayerBuild&)> reduction(Value (*op)(Value, const ReduceOptions&)) {
  return [op](LayerBuild& b) {
    b.require_inputs(1, 1);
    const int64_t axis = b.axis();
    Dim out = b.dim();
    out.extent(axis) = 1;
    b.put_plain(op(b.plain(), {.axes = {axis}, .keepdims = true}), out);
  };
}

constexpr Property kCast[] = {
    {"tensor_dtype", Kind::choice, "fp32", "fp32 fp16 qint8 qint4 uint8 uint16 uint32", 0, false,
     "tensors between layers are FP32"},
};

void build_cast(LayerBuild& b) {
  b.require_inputs(1, 1);
  b.pass(0);
}

}  // namespace

void add_elementwise_layers(std::vector<LayerKind>& kinds) {
  kinds.insert(kinds.end(), {{"addition", LAYER_ADDITION, {kAddition}, build_addition},
                             {"add", LAYER_ADD, {kPlain}, binary(&add)},
                             {"subtract", LAYER_SUBTRACT, {kPlain}, binary(&sub)},
                             {"multiply", LAYER_MULTIPLY, {kPlain}, binary(&mul)},
                             {"divide", LAYER_DIVIDE, {kPlain}, binary(&div)},
                             {"pow", LAYER_POW, {kPow, kPlain}, build_pow},
                             {"sqrt", LAYER_SQRT, {kPlain}, unary(&sqrt)},
                             {"sin", LAYER_SINE, {kPlain}, unary(&sin)},
                             {"cos", LAYER_COSINE, {kPlain}, unary(&cos)},
                             {"tan", LAYER_TANGENT, {kPlain}, unary(&tan)},
                             {"negative", LAYER_NEG, {kPlain}, unary(&neg)},
                             {"matmul", LAYER_MATMUL, {kPlain}, build_matmul},
                             {"swiglu", LAYER_SWIGLU, {kPlain}, build_swiglu},
                             {"reduce_mean", LAYER_REDUCE_MEAN, {kReduce}, reduction(&mean)},
                             {"reduce_sum", LAYER_REDUCE_SUM, {kReduce}, reduction(&sum)},
                             {"cast", LAYER_CAST, {kCast}, build_cast}});
}

}  // namespace thimble::ml_train
