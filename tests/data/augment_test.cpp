#include <gmock/gmock.h>
#include <thimble/data_loader.h>

#include <set>

#include "data/test_files.h"

namespace thimble::data::augment_test {
namespace {

using namespace testing;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr int64_t kHeight = 5;
constexpr int64_t kWidth = 7;
constexpr int64_t kChannels = 2;
constexpr int64_t kValues = kHeight * kWidth * kChannels;

// Images with values 1, 2, 3 ..., so that each value shows where it came from.
Dataset numbered(int64_t count) {
  return generator(count,
                   {{"image", {kHeight, kWidth, kChannels}}, {"label", {}, DType::i32, true}},
                   [](int64_t index, std::span<void* const> out) {
                     for (int64_t i = 0; i < kValues; ++i) {
                       static_cast<float*>(out[0])[i] = static_cast<float>(i + 1);
                     }
                     *static_cast<int32_t*>(out[1]) = static_cast<int32_t>(index);
                   });
}

using Image = std::vector<float>;

// The expected result, computed directly.
Image moved(int64_t dx, int64_t dy, bool flip) {
  Image to(kValues);
  for (int64_t y = 0; y < kHeight; ++y) {
    for (int64_t x = 0; x < kWidth; ++x) {
      const int64_t column = flip ? kWidth - 1 - x : x;
      const int64_t from_y = y - dy;
      const int64_t from_x = column - dx;
      if (from_y < 0 || from_y >= kHeight || from_x < 0 || from_x >= kWidth) continue;
      for (int64_t c = 0; c < kChannels; ++c) {
        to[static_cast<size_t>((y * kWidth + x) * kChannels + c)] =
            static_cast<float>((from_y * kWidth + from_x) * kChannels + c + 1);
      }
    }
  }
  return to;
}

std::vector<Image> epoch_of(const Dataset& set, const LoaderOptions& options, int64_t epoch) {
  Loader loader(set, options);
  loader.start(epoch);
  std::vector<Image> images(static_cast<size_t>(set.size()));
  while (const Batch* batch = loader.next()) {
    for (int64_t i = 0; i < batch->count; ++i) {
      const auto* const values = static_cast<const float*>(batch->fields[0]) + i * kValues;
      const int32_t label = static_cast<const int32_t*>(batch->fields[1])[i];
      images[static_cast<size_t>(label)] = Image(values, values + kValues);
    }
  }
  return images;
}

TEST(augmented, moves_and_mirrors_in_every_way_and_no_other) {
  std::set<Image> possible;
  for (int64_t dy = -2; dy <= 2; ++dy) {
    for (int64_t dx = -2; dx <= 2; ++dx) {
      possible.insert(moved(dx, dy, false));
      possible.insert(moved(dx, dy, true));
    }
  }
  ASSERT_EQ(possible.size(), 50U);
  std::set<Image> seen;
  for (const Image& image : epoch_of(augmented(numbered(1000), {.padding = 2}), {}, 0)) {
    ASSERT_TRUE(possible.contains(image));
    seen.insert(image);
  }
  EXPECT_EQ(seen.size(), 50U);
}

TEST(augmented, can_leave_out_either) {
  const Dataset set = numbered(50);
  EXPECT_THAT(epoch_of(augmented(set, {.padding = 0, .flip = false}), {}, 0),
              Each(moved(0, 0, false)));
  const auto flipped = epoch_of(augmented(set, {.padding = 0}), {}, 0);
  EXPECT_EQ(std::set(flipped.begin(), flipped.end()).size(), 2U);
}

TEST(augmented, moves_an_image_out_of_sight_by_a_padding_wider_than_itself) {
  const auto images = epoch_of(augmented(numbered(200), {.padding = 20, .flip = false}), {}, 0);
  int empty = 0;
  for (const Image& image : images) empty += image == Image(kValues) ? 1 : 0;
  EXPECT_GT(empty, 100);
  EXPECT_LT(empty, 200);
}

TEST(augmented, depends_on_seed_epoch_and_sample_alone) {
  const Dataset set = augmented(numbered(40), {.padding = 2});
  const auto images = epoch_of(set, {.batch = 4, .seed = 1}, 0);
  EXPECT_EQ(images, epoch_of(set, {.batch = 7, .shuffle = false, .seed = 1, .prefetch = 0}, 0));
  EXPECT_NE(images, epoch_of(set, {.batch = 4, .seed = 1}, 1));
  EXPECT_NE(images, epoch_of(set, {.batch = 4, .seed = 2}, 0));
}

TEST(augmented, leaves_evaluation_and_plain_reading_alone) {
  const Dataset set = augmented(numbered(40));
  EXPECT_THAT(epoch_of(set, {.training = false}, 0), Each(moved(0, 0, false)));
  EXPECT_EQ(sample_of(set, 3).features, moved(0, 0, false));
}

TEST(augmented, survives_subsets_and_other_names) {
  const Dataset whole = augmented(numbered(40), {.padding = 2});
  const Dataset part = whole.take(20).named({"x", "y"});
  std::vector<Image> expected = epoch_of(whole, {.seed = 3}, 0);
  expected.resize(20);
  EXPECT_EQ(epoch_of(part, {.seed = 3}, 0), expected);
}

TEST(augmented, refuses_what_has_no_image) {
  const Dataset set = numbered(3);
  EXPECT_THAT(error_of([&] { (void)augmented(set, {.padding = -1}); }), HasSubstr("padding is -1"));
  const Dataset row = in_memory({{"x", {4}}}, {std::vector<float>(8)});
  EXPECT_THAT(error_of([&] { (void)augmented(row); }), HasSubstr("no field is an image"));
}

}  // namespace
}  // namespace thimble::data::augment_test
