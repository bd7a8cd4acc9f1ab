#include "data/dat.h"

#include <gmock/gmock.h>

#include <limits>

#include "data/test_files.h"

namespace thimble::data::dat_test {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string record(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) bytes += little(value);
  return bytes;
}

// Records of two pixels and three classes.
std::string parse_error(const std::string& bytes) {
  return error_of([&] { (void)parse_dat("r.dat", to_bytes(bytes), 2, 3); });
}

TEST(dat_records, reads_pixels_and_class) {
  ScratchFolder folder;
  const std::string path =
      folder.write("r.dat", record({0, 255, 1, 0, 0}) + record({51, 25.5f, 0, 0, 1}));
  const Dataset set = dat_records(path, {2, 1, 1}, 3);
  EXPECT_EQ(set.size(), 2);
  EXPECT_EQ(set.fields()[0], (Field{"image", {2, 1, 1}, DType::f32, false}));
  EXPECT_EQ(set.fields()[1], (Field{"digit", {}, DType::i32, true}));
  const Sample second = sample_of(set, 1);
  EXPECT_THAT(second.features, ElementsAre(51 / 255.f, 25.5f / 255.f));
  EXPECT_EQ(second.label, 2);
  EXPECT_EQ(sample_of(set, 0).label, 0);
}

TEST(dat_records, refuses_a_record_cut_at_any_byte) {
  const std::string one = record({0, 255, 1, 0, 0});
  const std::string whole = one + one;
  EXPECT_EQ(parse_error(whole), kNoError);
  for (size_t size = 0; size < whole.size(); ++size) {
    if (size == one.size()) continue;  // one whole record
    EXPECT_THAT(parse_error(whole.substr(0, size)), HasSubstr("are not whole records")) << size;
  }
}

TEST(dat_records, names_record_and_offset) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::string good = record({0, 255, 1, 0, 0});
  struct Case {
    std::vector<float> second;
    std::string message;
  };
  const Case cases[] = {
      {{0, 256, 1, 0, 0}, "record 1, offset 24: pixel 1 is 256; expected 0..255"},
      {{-1, 0, 1, 0, 0}, "record 1, offset 20: pixel 0 is -1"},
      {{nan, 0, 1, 0, 0}, "pixel 0 is nan"},
      {{0, 0, 1, 1, 0}, "record 1, offset 32: the class is not one-hot"},
      {{0, 0, 0, 0.5f, 0}, "record 1, offset 32: the class is not one-hot"},
      {{0, 0, nan, 0, 0}, "record 1, offset 28: the class is not one-hot"},
      {{0, 0, 0, 0, 0}, "record 1, offset 28: no class is set"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(parse_error(good + record(c.second)), HasSubstr(c.message));
  }
}

TEST(dat_records, refuses_an_impossible_shape) {
  ScratchFolder folder;
  const std::string path = folder.write("r.dat", record({0, 255, 1, 0, 0}));
  EXPECT_NE(error_of([&] { (void)dat_records(path, {0, 1}, 3); }), kNoError);
  EXPECT_NE(error_of([&] { (void)dat_records(path, {1 << 30, 1 << 30}, 3); }), kNoError);
  EXPECT_NE(error_of([&] { (void)dat_records(path, {2}, 0); }), kNoError);
  EXPECT_NE(error_of([&] { (void)dat_records(path); }), kNoError) << "784 + 10 floats expected";
}

}  // namespace
}  // namespace thimble::data::dat_test
