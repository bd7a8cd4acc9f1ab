// What becomes of scales in ops that take integers: kept where values only move, refused where
// integers would be taken for plain numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <functional>

#include "harness/error_of.h"

namespace thimble::test::scales_test {
namespace {

const Quantization kScale{.scales = {0.5F}, .zero_points = {3}};
const Quantization kOther{.scales = {0.25F}, .zero_points = {3}};

struct Ops {
  Graph g;
  Value a = g.input("a", {4, 6}, DType::i8, kScale);
  Value b = g.input("b", {4, 6}, DType::i8, kScale);
  Value other = g.input("other", {4, 6}, DType::i8, kOther);
  Value plain = g.input("plain", {4, 6}, DType::i8);
  Value row = g.constant("row", Array(std::vector<int8_t>(6, 1), {1, 1, 6}), kScale);
  Value whole = g.input("whole", {4, 6}, DType::i32, kScale);
  Value index = g.input("index", {4, 6}, DType::i32);
  Value few = g.constant("few", Array(std::vector<int32_t>{0, 2}, {2}));
  Value condition = g.input("condition", {4, 6}, DType::u8);
  Value along = g.constant("along", Array(std::vector<int8_t>(2, 1), {2}),
                           {.scales = {0.5F, 0.25F}, .zero_points = {}, .axis = 0});
};

struct Way {
  const char* name;
  std::function<Value(Ops&)> build;
};

TEST(scales, stay_where_values_only_move) {
  const Way ways[] = {
      {"gather", [](Ops& o) { return gather(o.a, o.index, {.axis = 2}); }},
      {"index_select", [](Ops& o) { return index_select(o.a, o.few, {.axis = 1}); }},
      {"broadcast_to",
       [](Ops& o) {
         return broadcast_to(o.row, {3, 4, 6});
       }},
      {"where", [](Ops& o) { return where(o.condition, o.a, o.b); }},
      {"maximum", [](Ops& o) { return maximum(o.a, o.b); }},
      {"minimum", [](Ops& o) { return minimum(o.a, o.b); }},
      {"max", [](Ops& o) { return max(o.a, {.axes = {1}}); }},
      {"min", [](Ops& o) { return min(o.a, {.axes = {1}}); }},
      {"concat",
       [](Ops& o) {
         return concat({o.a, o.b}, {.axis = 1});
       }},
      {"flip", [](Ops& o) { return flip(o.a, {.axes = {1}}); }},
      {"topk", [](Ops& o) { return topk(o.a, {.k = 2}).values; }},
      {"clamp", [](Ops& o) { return clamp(o.a, o.b, o.b); }},
      {"scatter", [](Ops& o) { return scatter(o.a, o.index, o.b, {.axis = 2}); }},
  };
  for (const Way& way : ways) {
    Ops o;
    const Value y = way.build(o);
    ASSERT_NE(y.quantization(), nullptr) << way.name;
    EXPECT_EQ(*y.quantization(), kScale) << way.name;
  }
}

TEST(scales, are_refused_where_integers_are_computed_with) {
  const Way ways[] = {
      {"add", [](Ops& o) { return add(o.a, o.b); }},
      {"add", [](Ops& o) { return add(o.plain, o.b); }},
      {"sub", [](Ops& o) { return sub(o.a, o.b); }},
      {"mul", [](Ops& o) { return mul(o.a, o.b); }},
      {"neg", [](Ops& o) { return neg(o.a); }},
      {"abs", [](Ops& o) { return abs(o.a); }},
      {"bitwise_and", [](Ops& o) { return bitwise_and(o.a, o.b); }},
      {"logical_not", [](Ops& o) { return logical_not(o.a); }},
      {"sign", [](Ops& o) { return sign(o.a); }},
      {"scatter_add", [](Ops& o) { return scatter_add(o.a, o.index, o.b, {.axis = 2}); }},
      {"scatter", [](Ops& o) { return scatter(o.a, o.index, Value(), {.axis = 2}); }},
      {"matmul", [](Ops& o) { return matmul(o.whole, o.whole, {.transpose_b = true}); }},
      {"prod", [](Ops& o) { return prod(o.whole, {.axes = {1}}); }},
  };
  for (const Way& way : ways) {
    Ops o;
    const std::string error = error_of([&] { way.build(o); });
    EXPECT_THAT(error, ::testing::HasSubstr(way.name));
    EXPECT_THAT(error, ::testing::HasSubstr("an input has a scale; dequantize it"));
  }
  const Way unequal[] = {
      {"where", [](Ops& o) { return where(o.condition, o.a, o.other); }},
      {"maximum", [](Ops& o) { return maximum(o.a, o.other); }},
      {"concat",
       [](Ops& o) {
         return concat({o.a, o.other});
       }},
      {"gt", [](Ops& o) { return gt(o.a, o.other); }},
      {"clamp", [](Ops& o) { return clamp(o.a, o.b, o.other); }},
      {"scatter", [](Ops& o) { return scatter(o.a, o.index, o.other, {.axis = 2}); }},
  };
  for (const Way& way : unequal) {
    Ops o;
    EXPECT_THAT(error_of([&] { way.build(o); }), ::testing::HasSubstr("one scale and zero point"))
        << way.name;
  }
  Ops o;
  EXPECT_THAT(error_of([&] { minimum(o.a, o.plain); }),
              ::testing::HasSubstr("one input has a scale and the other has none"));
  for (const auto& build : std::vector<std::function<Value()>>{
           [&] { return index_select(o.along, o.few); }, [&] { return argmax(o.along); },
           [&] { return gt(o.along, o.along); }}) {
    EXPECT_THAT(error_of([&] { build(); }), ::testing::HasSubstr("scales along an axis"));
  }
}

TEST(scales, are_equal_without_zero_points_and_with_zeros) {
  Graph g;
  const Value a = g.input("a", {3}, DType::i8, {.scales = {0.5F}});
  const Value b = g.input("b", {3}, DType::i8, {.scales = {0.5F}, .zero_points = {0}});
  EXPECT_EQ(*a.quantization(), *b.quantization());
  EXPECT_EQ(concat({a, b}, {.axis = 1}).shape(), (Shape{kBatch, 6}));
  const Value c = requantize(a, {.scale = 0.5});
  EXPECT_EQ(*c.quantization(), *a.quantization());
  // Zero points of another number than scales are an error still.
  EXPECT_THAT(
      error_of([&] {
        static_cast<void>(g.input("d", {3}, DType::i8, {.scales = {0.5F}, .zero_points = {0, 0}}));
      }),
      ::testing::HasSubstr("2 zero points"));
}

}  // namespace
}  // namespace thimble::test::scales_test
