// Values of every type in graphs: sources, quantization, the choice of kernels.
#include <gmock/gmock.h>
#include <thimble/graph.h>
#include <thimble/ops.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "autodiff/autodiff.h"
#include "harness/error_of.h"
#include "ir/function_def.h"
#include "ir/graph.h"
#include "ir/reference.h"

namespace thimble::types_test {
namespace {

using test::error_of;
using testing::HasSubstr;

TEST(types, have_sizes_in_memory) {
  EXPECT_EQ(size_bytes(DType::f64, {3}), 24);
  EXPECT_EQ(size_bytes(DType::i64, {3}), 24);
  EXPECT_EQ(size_bytes(DType::i16, {3}), 6);
  EXPECT_EQ(size_bytes(DType::i4, {3}), 2);
  EXPECT_EQ(size_bytes(DType::i4, {}), 1);
  EXPECT_EQ(size_bytes(DType::boolean, {9}), 2);
  EXPECT_EQ(size_bytes(DType::i4, {0, 3}), 0);
}

TEST(graph_of_any_type, holds_constants_inputs_and_parameters) {
  for (const DType dtype : kDTypes) {
    Graph g;
    const Value x = g.input("x", {8}, dtype);
    const Value c = g.constant("c", Array{1.0F, 0.0F}.cast(dtype));
    const Value w = g.parameter("w", {3}, init::ones(), dtype);
    g.output("y", reshape(x, {-1, 2, 4}));
    EXPECT_EQ(x.dtype(), dtype);
    EXPECT_EQ(c.dtype(), dtype);
    EXPECT_EQ(g.ir().data(w.id()).trainable, dtype == DType::f32);
    EXPECT_NO_THROW(ir::verify(g.ir())) << to_string(dtype);
    EXPECT_THAT(g.text(), HasSubstr(to_string(dtype) + std::string("[N, 8] = input")));
    if (dtype == DType::f32) continue;
    EXPECT_THAT(error_of([&] { g.parameter("v", {3}, init::normal(0.0, 1.0), dtype); }),
                HasSubstr("starts from a constant"));
  }
}

TEST(graph_of_any_type, folds_integer_constants) {
  Graph g;
  const int64_t large = int64_t{1} << 60;
  const Value a = g.constant("a", std::vector<int64_t>{large, 1});
  g.output("y", a + a);
  const auto values = ir::run_reference(g.ir(), {}, ir::Precision::f32);
  const Array y = Array::of_bytes(DType::i64, {2}, values.back());
  EXPECT_THAT(y.as<int64_t>(), testing::ElementsAre(2 * large, 2));
}

TEST(graph_of_any_type, says_when_it_is_built_that_there_is_no_kernel) {
  Graph g;
  const Value a = g.input("a", {3}, DType::i8);
  const Value b = g.input("b", {3}, DType::i32);
  const std::string what = error_of([&] { add(a, b); });
  EXPECT_THAT(what, HasSubstr("[add]"));
  EXPECT_THAT(what, HasSubstr("it has floating, i8, i16, i32, i64, u8, u32: cast first"));
  EXPECT_THAT(what, HasSubstr("i8[N, 3], i32[N, 3]"));
  EXPECT_THAT(error_of([&] { exp(a); }), HasSubstr("x must be floating, got i8: cast first"));
  EXPECT_THAT(error_of([&] { exp(g.input("wide", {3}, DType::f64)); }),
              HasSubstr("x must be f32, f16 or bf16, got f64: cast first"));
  const Value packed = g.input("packed", {3}, DType::i4);
  EXPECT_THAT(error_of([&] { remainder(packed, packed); }),
              HasSubstr("a must be f32, f16, bf16, i64 or i32, got i4: cast first"));
  EXPECT_THAT(error_of([&] { add(cast(a, DType::f16), cast(b, DType::bf16)); }),
              HasSubstr("not both"));
}

TEST(graph_of_any_type, wants_a_loss_of_f32) {
  Graph g;
  const Value x = g.input("x", {3}, DType::f16);
  EXPECT_THAT(error_of([&] { g.minimize(mean(x)); }),
              HasSubstr("expected one f32 number, got f16[]; convert it with cast"));
  EXPECT_THAT(error_of([&] { g.minimize(cast(x, DType::f32)); }), HasSubstr("reduce it with mean"));
}

TEST(declared_types, are_checked_before_the_shape_rule) {
  Graph g;
  const Value x = g.input("x", {3, 4});
  const Value index = g.input("index", {3, 2}, DType::i64);
  EXPECT_THAT(error_of([&] { gather(x, index, {.axis = 1}); }),
              HasSubstr("[gather] index must be i32, got i64: cast first; got f32[N, 3, 4]"));
  EXPECT_THAT(error_of([&] {
                eq(x, g.input("y", {3, 4}, DType::f64));
              }),
              HasSubstr("b must have the type of a, f32, got f64: cast one of them"));
  EXPECT_THAT(error_of([&] { bitwise_not(x); }), HasSubstr("a must be integer, got f32"));
  EXPECT_THAT(error_of([&] { remainder(g.input("z", {3}, DType::i8), index); }),
              HasSubstr("must be floating, i64 or i32, got i8"));
}

TEST(declared_types, follow_from_the_kernels_where_an_op_declares_none) {
  const auto usual = [](const char* op, size_t i) {
    return ir::to_string(ir::usual_types(*ir::find_op(op), i));
  };
  EXPECT_EQ(usual("exp", 0), "floating");
  EXPECT_EQ(usual("reshape", 0), "any type");
  EXPECT_EQ(usual("dropout", 0), "u32");     // the random state
  EXPECT_EQ(usual("sgd_update", 0), "f32");  // which it updates
  EXPECT_EQ(usual("sgd_update", 1), "floating");
  EXPECT_EQ(ir::to_string(ir::taken_types(*ir::find_op("add"), 0)), "floating or integer");
  const auto rows = ir::type_rows(*ir::find_op("matmul"));
  ASSERT_EQ(rows.size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(rows[0][i], ir::kFloatingTypes);
    EXPECT_EQ(rows[1][i], DType::i32);
  }
}

TEST(declared_types, of_functions_are_their_own_or_those_of_the_op) {
  const auto rows = [](const char* name) { return ir::type_rows(*ir::find_function(name)); };
  EXPECT_EQ(rows("matmul"), ir::type_rows(*ir::find_op("matmul")));
  EXPECT_TRUE(rows("sum")[0][0].has(DType::boolean));
  const ir::TypeSet condition{DType::u8, DType::boolean};
  for (const auto& row : rows("where")) {
    EXPECT_EQ(row[0], condition);
    EXPECT_EQ(row[1], row[2]);
  }
  EXPECT_EQ(rows("dense"), std::vector(1, std::vector(3, ir::kFloatingTypes)));
}

TEST(type_set, says_what_it_holds) {
  EXPECT_EQ(ir::to_string(ir::TypeSet()), "no type");
  EXPECT_EQ(ir::to_string(ir::kNumberTypes), "floating or integer");
  EXPECT_EQ(ir::to_string(ir::kAnyType), "any type");
  EXPECT_EQ(ir::to_string(ir::TypeSet{DType::boolean, DType::u8}), "u8 or bool");
  EXPECT_EQ(ir::to_string(ir::kFloatingTypes | ir::TypeSet{DType::i64, DType::i32}),
            "floating, i64 or i32");
  EXPECT_FALSE(ir::kFloatingTypes.has(DType::f64));
}

TEST(sums, count_booleans_and_have_room_for_narrow_integers) {
  Graph g;
  const Value mask = g.constant("mask", Array::of_bytes(DType::boolean, {3}, {std::byte{5}}));
  const Value bytes = g.constant("bytes", std::vector<int8_t>{100, 100, 100});
  g.output("count", sum(mask));
  g.output("share", mean(mask));
  g.output("sum", sum(bytes));
  g.output("mean", mean(bytes));
  const auto values = ir::run_reference(ir::with_batch(g.ir(), 1), {}, ir::Precision::f32);
  const auto number = [&](const char* output, auto zero) {
    for (const auto& [name, id] : g.ir().outputs) {
      if (name == output) {
        std::memcpy(&zero, values[static_cast<size_t>(id)].data(), sizeof zero);
      }
    }
    return zero;
  };
  EXPECT_EQ(number("count", int32_t{0}), 2);
  EXPECT_EQ(number("share", 0.0F), 2.0F / 3.0F);
  EXPECT_EQ(number("sum", int32_t{0}), 300);
  EXPECT_EQ(number("mean", 0.0F), 100.0F);
  EXPECT_EQ(sum(g.input("x", {2}, DType::u32)).dtype(), DType::i64);
}

TEST(quantization, is_carried_printed_and_compared) {
  Graph g;
  const Quantization per_axis{.scales = {0.5F, 0.25F}, .zero_points = {3, -4}, .axis = 1};
  const Value x = g.input("x", {2}, DType::i8, per_axis);
  const Value w = g.parameter("w", {4}, init::zeros(), DType::u8, {.scales = {0.1F}});
  const Value c = g.constant("c", std::vector<int8_t>{1, 2}, {.scales = {2.0F}});
  ASSERT_NE(x.quantization(), nullptr);
  EXPECT_EQ(*x.quantization(), per_axis);
  EXPECT_EQ(w.quantization()->scales[0], 0.1F);
  EXPECT_EQ(c.quantization()->axis, std::nullopt);
  EXPECT_EQ(g.input("y", {2}).quantization(), nullptr);
  EXPECT_THAT(g.text(), HasSubstr("i8[N, 2] (2 scales along axis 1)"));
  EXPECT_THAT(g.text(), HasSubstr("i8[2] (scale 2, zero point 0)"));
  ir::TensorType a = g.ir().type(x.id());
  ir::TensorType b{a.dtype, a.shape, std::make_shared<const Quantization>(per_axis)};
  EXPECT_EQ(a, b);
  b.quantization = std::make_shared<const Quantization>(Quantization{.scales = {0.5F}});
  EXPECT_NE(a, b);
  b.quantization = nullptr;
  EXPECT_NE(a, b);
  EXPECT_NO_THROW(ir::verify(ir::with_batch(g.ir(), 4)));
}

TEST(quantization, must_fit_the_tensor) {
  struct Case {
    DType dtype;
    Quantization quantization;
    const char* error;
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Case cases[] = {
      {DType::f32, {.scales = {1.0F}}, "f32 cannot be quantized"},
      {DType::i64, {.scales = {1.0F}}, "i64 cannot be quantized"},
      {DType::boolean, {.scales = {1.0F}}, "bool cannot be quantized"},
      {DType::i8, {.scales = {1.0F, 2.0F}}, "takes 1 scales, got 2"},
      {DType::i8, {.scales = {1.0F}, .axis = 0}, "along axis 0 of [3, 2] takes 3 scales, got 1"},
      {DType::i8, {.scales = {1.0F}, .axis = 2}, "outside of the shape [3, 2]"},
      {DType::i8, {.scales = {1.0F}, .axis = -1}, "outside of the shape [3, 2]"},
      {DType::i8, {.scales = {0.0F}}, "finite and above 0"},
      {DType::i8, {.scales = {-1.0F}}, "finite and above 0"},
      {DType::i8, {.scales = {nan}}, "finite and above 0"},
      {DType::i8, {.scales = {}, .zero_points = {1}}, "takes 1 scales, got 0"},
      {DType::i8, {.scales = {1.0F}, .zero_points = {1, 2}}, "1 scales, but 2 zero points"},
      {DType::i8, {.scales = {1.0F}, .zero_points = {128}}, "128 is no number of i8"},
      {DType::u8, {.scales = {1.0F}, .zero_points = {-1}}, "-1 is no number of u8"},
      {DType::i4, {.scales = {1.0F}, .zero_points = {8}}, "8 is no number of i4"},
  };
  for (const Case& c : cases) {
    Graph g;
    EXPECT_THAT(error_of([&] {
                  g.parameter("w", {3, 2}, init::zeros(), c.dtype, c.quantization);
                }),
                HasSubstr(c.error));
  }
  Graph g;
  const Value w = g.parameter("w", {3, 2}, init::zeros(), DType::i8, {.scales = {1.0F}});
  g.ir().values[static_cast<size_t>(w.id())].type.quantization =
      std::make_shared<const Quantization>(Quantization{.scales = {nan}});
  EXPECT_THAT(error_of([&] { ir::verify(g.ir()); }), HasSubstr("finite and above 0"));
}

TEST(verify, refuses_constants_and_parameters_of_other_types) {
  Graph g;
  const Value c = g.constant("c", {2}, {1.0F, 2.0F});
  ir::Graph broken = g.ir();
  broken.values[static_cast<size_t>(c.id())].data = Array(std::vector<int32_t>{1, 2});
  EXPECT_THAT(error_of([&] { ir::verify(broken); }), HasSubstr("holds i32[2]"));
  const Value w = g.parameter("w", {2}, init::zeros(), DType::i8);
  g.ir().values[static_cast<size_t>(w.id())].trainable = true;
  EXPECT_THAT(error_of([&] { ir::verify(g.ir()); }), HasSubstr("only parameters of f32, i8 with"));
}

// The gradient of a cast has the type of its input.
TEST(gradient_in_16_bits, reaches_a_parameter_of_f32) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    Graph g;
    const Value x = g.constant("x", {2}, {1.5F, -2.0F});
    const Value w = g.parameter("w", {2}, init::ones());
    const Value y = cast(w, dtype) * cast(x, dtype);
    EXPECT_EQ(y.dtype(), dtype);
    g.minimize(sum(cast(y, DType::f32)));
    const auto gradients = autodiff::append_loss_gradients(g.ir());
    ASSERT_EQ(gradients.size(), 1U);
    EXPECT_EQ(g.ir().type(gradients[0].gradient).dtype, DType::f32);
    const auto values = ir::run_reference(
        g.ir(), {{w.id(), ir::to_bytes(std::vector<float>{1.0F, 1.0F}, ir::Precision::f32)}},
        ir::Precision::f32);
    const Array dw =
        Array::of_bytes(DType::f32, {2}, values[static_cast<size_t>(gradients[0].gradient)]);
    EXPECT_THAT(dw.as<float>(), testing::ElementsAre(1.5F, -2.0F));
  }
}

}  // namespace
}  // namespace thimble::types_test
