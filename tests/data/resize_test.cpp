#include <gmock/gmock.h>

#include "data/test_files.h"

namespace thimble::data::resize_test {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

Dataset image_of(const Shape& shape, std::vector<float> values) {
  return in_memory({{"image", shape}, {"label", {}, DType::i32, true}},
                   {std::move(values), std::vector<int32_t>{5}});
}

TEST(resized, halves_and_doubles_as_PyTorch_does) {
  // torch.nn.functional.interpolate(x, size, mode="bilinear").
  const Dataset small = image_of({2, 2, 1}, {0, 1, 2, 3});
  const Sample large = sample_of(resized(small, 4, 4), 0);
  EXPECT_THAT(large.features, ElementsAre(0, 0.25F, 0.75F, 1, 0.5F, 0.75F, 1.25F, 1.5F, 1.5F, 1.75F,
                                          2.25F, 2.5F, 2, 2.25F, 2.75F, 3));
  EXPECT_EQ(large.label, 5);
  EXPECT_THAT(sample_of(resized(small, 1, 1), 0).features, ElementsAre(1.5F));
  EXPECT_THAT(sample_of(resized(small, 2, 3), 0).features,
              Pointwise(FloatNear(1e-6F), {0.0F, 0.5F, 1.0F, 2.0F, 2.5F, 3.0F}));
}

TEST(resized, keeps_channels_apart_and_the_shape_in_its_fields) {
  const Dataset set = resized(image_of({1, 2, 3}, {0, 1, 2, 3, 4, 5}), 2, 2);
  EXPECT_EQ(set.fields()[0].shape, Shape({2, 2, 3}));
  EXPECT_EQ(set.fields()[1].shape, Shape{});
  EXPECT_THAT(sample_of(set, 0).features, ElementsAre(0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5));
}

TEST(resized, may_be_nested) {
  const Dataset once = resized(image_of({2, 2, 1}, {0, 1, 2, 3}), 4, 4);
  EXPECT_THAT(sample_of(resized(once, 2, 2), 0).features,
              ElementsAre(0.375F, 1.125F, 1.875F, 2.625F));
  EXPECT_EQ(sample_of(resized(once, 4, 4), 0).features, sample_of(once, 0).features);
}

TEST(resized, refuses_impossible_sizes_and_what_has_no_image) {
  const Dataset set = image_of({2, 2, 1}, {0, 1, 2, 3});
  EXPECT_THAT(error_of([&] { (void)resized(set, 0, 4); }), HasSubstr("size is 0x4"));
  EXPECT_THAT(error_of([&] { (void)resized(set, 4, 1 << 20); }), HasSubstr("size is 4x1048576"));
  const Dataset row = in_memory({{"x", {4}}}, {std::vector<float>(8)});
  EXPECT_THAT(error_of([&] { (void)resized(row, 2, 2); }), HasSubstr("no field is an image"));
}

}  // namespace
}  // namespace thimble::data::resize_test
