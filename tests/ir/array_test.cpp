#include <gmock/gmock.h>
#include <thimble/array.h>

#include <cmath>

#include "harness/error_of.h"
#include "ir/sizes.h"

namespace thimble::array_test {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(array, takes_over_vectors_of_every_element_type) {
  EXPECT_EQ(Array(std::vector<float>{1, 2}).dtype(), DType::f32);
  EXPECT_EQ(Array(std::vector<double>{1}).dtype(), DType::f64);
  EXPECT_EQ(Array(std::vector<int8_t>{1}).dtype(), DType::i8);
  EXPECT_EQ(Array(std::vector<int16_t>{1}).dtype(), DType::i16);
  EXPECT_EQ(Array(std::vector<int32_t>{1}).dtype(), DType::i32);
  EXPECT_EQ(Array(std::vector<int64_t>{1}).dtype(), DType::i64);
  EXPECT_EQ(Array(std::vector<uint8_t>{1}).dtype(), DType::u8);
  EXPECT_EQ(Array(std::vector<uint32_t>{1}).dtype(), DType::u32);
  std::vector<int32_t> values = {1, 2, 3, 4, 5, 6};
  const int32_t* const data = values.data();
  const Array matrix(std::move(values), {2, 3});
  EXPECT_EQ(matrix.shape(), (Shape{2, 3}));
  EXPECT_EQ(matrix.as<int32_t>().data(), data);  // not copied
  const Array copy = matrix;
  EXPECT_EQ(copy.bytes().data(), matrix.bytes().data());
  EXPECT_EQ(Array().elements(), 0);
  EXPECT_THAT(Array(DType::i16, {2}).as<int16_t>(), ElementsAre(0, 0));
}

TEST(array, names_both_types_where_they_differ) {
  const Array values(std::vector<int32_t>{1, 2});
  const std::string what = error_of([&] { static_cast<void>(values.as<float>()); });
  EXPECT_THAT(what, HasSubstr("holds i32[2], but f32 was asked for"));
  EXPECT_THAT(error_of([&] { static_cast<void>(values.as<uint16_t>()); }),
              HasSubstr("f16 or bf16 was asked for"));
  EXPECT_THAT(error_of([&] { static_cast<void>(Array{1.5F}.integers()); }),
              HasSubstr("an integer type or bool was asked for"));
}

TEST(array, refuses_shapes_that_do_not_fit) {
  EXPECT_THAT(error_of([] {
                static_cast<void>(Array(std::vector<float>(3), {2, 2}));
              }),
              HasSubstr("f32[2, 2] takes 16 bytes, got 12"));
  EXPECT_THAT(error_of([] {
                static_cast<void>(Array(std::vector<float>(2), {-1, -2}));
              }),
              HasSubstr("no negative sizes"));
  EXPECT_THAT(error_of([] { static_cast<void>(Array(DType::f32, {-1})); }),
              HasSubstr("no negative sizes"));
  EXPECT_THAT(error_of([] { static_cast<void>(Array{1.0F}.reshaped({2})); }),
              HasSubstr("has 1 elements, shape [2] takes 2"));
  EXPECT_EQ(Array(std::vector<float>(6)).reshaped({2, 3}).shape(), (Shape{2, 3}));
}

TEST(array, refuses_shapes_whose_elements_overflow) {
  constexpr int64_t kWide = int64_t{1} << 32;
  EXPECT_EQ(ir::bounded_elements({kWide, kWide}), ir::kMostProduct);
  EXPECT_EQ(ir::bounded_elements({kWide, kWide, 0}), 0);
  EXPECT_EQ(ir::bounded_elements({1 << 29, 1 << 29}), int64_t{1} << 58);
  EXPECT_THAT(error_of([] {
                static_cast<void>(Array(std::vector<float>(), {kWide, kWide}));
              }),
              HasSubstr("too large"));
  EXPECT_THAT(error_of([] {
                static_cast<void>(Array(DType::f32, {kWide, kWide}));
              }),
              HasSubstr("too large"));
}

TEST(array, views_memory_until_it_is_to_own_it) {
  std::vector<float> numbers = {1, 2};
  const Array view = Array::view(std::span<const float>(numbers), {2});
  const Array owned = view.owned();
  EXPECT_TRUE(view.is_view());
  EXPECT_FALSE(owned.is_view());
  numbers[0] = 5.0F;
  EXPECT_THAT(view.as<float>(), ElementsAre(5, 2));
  EXPECT_THAT(owned.as<float>(), ElementsAre(1, 2));
  const auto bytes = std::as_bytes(std::span<const float>(numbers)).subspan(1, 4);
  EXPECT_THAT(error_of([&] { static_cast<void>(Array::view(DType::f32, {1}, bytes)); }),
              HasSubstr("aligned to 4 bytes"));
}

// A temporary array gives a copy, not a view.
TEST(array, gives_elements_that_outlive_it) {
  const auto make = [] { return Array(std::vector<float>{3, 4}); };
  const std::vector<float> kept = make().as<float>();
  EXPECT_THAT(kept, ElementsAre(3, 4));
}

TEST(array, converts_to_numbers_of_every_type_and_back) {
  const std::vector<float> small = {0, 1, 1, 0, 1};
  for (const DType dtype : kDTypes) {
    const Array values = Array(small).cast(dtype);
    EXPECT_EQ(values.dtype(), dtype);
    EXPECT_EQ(static_cast<int64_t>(values.bytes().size()), size_bytes(dtype, {5}));
    EXPECT_EQ(values.floats(), small) << to_string(dtype);
    if (!is_floating(dtype)) {
      EXPECT_THAT(values.integers(), ElementsAre(0, 1, 1, 0, 1));
    }
  }
  EXPECT_THAT(Array(std::vector<int8_t>{-8, 7, -1}).cast(DType::i4).integers(),
              ElementsAre(-8, 7, -1));
  EXPECT_THAT((Array{1.9F, -1.9F, 1e9F, NAN}).cast(DType::i8).integers(),
              ElementsAre(1, -1, 127, 0));
}

TEST(array, is_equal_where_type_shape_and_bytes_are) {
  EXPECT_EQ(Array{1.0F}, Array{1.0F});
  EXPECT_FALSE(Array{1.0F} == Array{2.0F});
  EXPECT_FALSE(Array{1.0F} == Array(std::vector<float>{1.0F}, {1, 1}));
  EXPECT_FALSE(Array(std::vector<int8_t>{1}) == Array(std::vector<uint8_t>{1}));
}

}  // namespace
}  // namespace thimble::array_test
