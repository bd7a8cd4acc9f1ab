#include "data/idx.h"

#include <gmock/gmock.h>

#include <limits>

#include "data/file.h"
#include "data/gzip_of.h"
#include "data/test_files.h"

namespace thimble::data::idx_test {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string idx_header(char code, const std::vector<uint32_t>& dims) {
  std::string bytes = {0, 0, code, static_cast<char>(dims.size())};
  for (const uint32_t dim : dims) bytes += big(dim);
  return bytes;
}

// Two images of 2 x 3.
std::string small_images() {
  std::string bytes = idx_header(0x08, {2, 2, 3});
  for (int i = 0; i < 12; ++i) bytes += static_cast<char>(i * 20);
  return bytes;
}
std::string small_labels() { return idx_header(0x08, {2}) + std::string("\x07\x03"); }

std::string parse_error(const std::string& bytes) {
  return error_of([&] { (void)parse_idx("set.idx", to_bytes(bytes)); });
}

TEST(idx, reads_images_and_labels) {
  ScratchFolder folder;
  const Dataset set = idx(folder.write("i", small_images()), folder.write("l", small_labels()));
  EXPECT_EQ(set.size(), 2);
  ASSERT_EQ(set.fields().size(), 2u);
  EXPECT_EQ(set.fields()[0], (Field{"image", {2, 3, 1}, DType::f32, false}));
  EXPECT_EQ(set.fields()[1], (Field{"digit", {}, DType::i32, true}));
  const Sample second = sample_of(set, 1);
  EXPECT_THAT(second.features, ElementsAre(120 / 255.f, 140 / 255.f, 160 / 255.f, 180 / 255.f,
                                           200 / 255.f, 220 / 255.f));
  EXPECT_EQ(second.label, 3);
  EXPECT_EQ(set.bytes(), 12 + 2) << "bytes must stay bytes in memory";
}

TEST(idx, reads_gzip_of_one_or_several_members) {
  ScratchFolder folder;
  const std::string images = small_images();
  for (const std::string& packed :
       {gzip_of(images), gzip_of(images.substr(0, 9)) + gzip_of(images.substr(9))}) {
    const Dataset set =
        idx(folder.write("i.gz", packed), folder.write("l.gz", gzip_of(small_labels())));
    EXPECT_EQ(sample_of(set, 0).features[5], 100 / 255.f);
    EXPECT_EQ(sample_of(set, 1).label, 3);
  }
}

TEST(idx, converts_every_element_type) {
  struct Case {
    char code;
    std::string values;  // three of them
    std::vector<float> expected;
  };
  const Case cases[] = {
      {0x08, "\x01\x80\xff", {1 / 255.f, 128 / 255.f, 1.f}},
      {0x09, "\x01\x80\xff", {1, -128, -1}},
      {0x0B, big<int16_t>(300) + big<int16_t>(-2) + big<int16_t>(7), {300, -2, 7}},
      {0x0C, big<int32_t>(70000) + big<int32_t>(-2) + big<int32_t>(7), {70000, -2, 7}},
      {0x0D, big(1.5f) + big(-0.25f) + big(1e30f), {1.5f, -0.25f, 1e30f}},
      {0x0E, big(1.5) + big(-0.1) + big(3.0), {1.5f, -0.1f, 3.0f}},
  };
  ScratchFolder folder;
  const std::string labels = folder.write("l", idx_header(0x0C, {1}) + big<int32_t>(123456));
  for (const Case& c : cases) {
    SCOPED_TRACE(static_cast<int>(c.code));
    const Dataset set = idx(folder.write("i", idx_header(c.code, {1, 3}) + c.values), labels);
    const Sample sample = sample_of(set, 0);
    EXPECT_EQ(sample.features, c.expected);
    EXPECT_EQ(sample.label, 123456);
  }
}

TEST(idx, refuses_a_file_cut_at_any_byte) {
  for (const std::string& whole : {small_images(), gzip_of(small_images())}) {
    EXPECT_EQ(parse_error(whole), kNoError);
    for (size_t size = 0; size < whole.size(); ++size) {
      EXPECT_THAT(parse_error(whole.substr(0, size)), HasSubstr("[set.idx]")) << size;
    }
    EXPECT_NE(parse_error(whole + "x"), kNoError) << "a byte too many";
  }
}

TEST(idx, names_what_is_wrong) {
  const std::string images = small_images();
  struct Case {
    std::string bytes;
    std::string message;
  };
  std::string damaged = gzip_of(images);
  damaged[damaged.size() - 8] ^= 1;  // the checksum
  const Case cases[] = {
      {"PK\x03\x04", "is no IDX file"},
      {std::string("\0\0\x0A\1\0\0\0\1x", 9), "element type 0x0A at offset 2"},
      {std::string("\0\0\x08\0x", 5), "has 0 dimensions (offset 3)"},
      {std::string("\0\0\x08\x09", 4), "has 9 dimensions"},
      {idx_header(0x08, {0, 28}), "dimension 0 is 0"},
      {idx_header(0x08, {2, 2, 3}).substr(0, 10), "ends inside a dimension"},
      {images.substr(0, 20), "announces 12 bytes of elements [2, 2, 3], but 4 follow at offset 16"},
      {images + "1234", "but 16 follow"},
      {idx_header(0x0E, {1u << 31, 1u << 31, 1}), "holds more than"},
      {idx_header(0x08, {1u << 31, 1u << 31, 1u << 31, 1u << 31}), "holds more than"},
      {idx_header(0x08, {UINT32_MAX, UINT32_MAX / 4}), "cut short"},
      {damaged, "gzip data are damaged"},
      {gzip_of(images).substr(0, 30), "cut short"},
      {gzip_of(images) + "tail", "not gzip"},
      {gzip_of(images + "1"), "unpacks to more than the 28 bytes"},
      {gzip_of(idx_header(0x08, {1u << 30, 2})), "more than the 1073741824"},
      {gzip_of(idx_header(0x08, {1u << 29})), "but 0 follow"},
  };
  for (const Case& c : cases) EXPECT_THAT(parse_error(c.bytes), HasSubstr(c.message));
}

TEST(idx, unpacks_no_more_of_a_gzip_bomb_than_its_header_announces) {
  // 64 MiB of zeros in 64 KiB: legal gzip around a header that promises four bytes.
  const std::string bomb = gzip_of(idx_header(0x08, {4}) + std::string(64u << 20, '\0'));
  EXPECT_THAT(parse_error(bomb), HasSubstr("unpacks to more than the 12 bytes"));
}

TEST(idx, refuses_labels_and_values_that_cannot_be_used) {
  struct Case {
    std::string images;
    std::string labels;
    std::string message;
  };
  const Case cases[] = {
      {small_images(), idx_header(0x08, {3}) + "abc", "holds 3 labels, but"},
      {small_images(), idx_header(0x09, {2}) + "\x01\xff", "element 0 of sample 1 is -1"},
      {idx_header(0x0D, {2, 1}) + big(1.f) + big(std::numeric_limits<float>::quiet_NaN()),
       small_labels(), "element 0 of sample 1 is nan"},
      {idx_header(0x0E, {2, 1}) + big(1.) + big(1e300), small_labels(), "fit f32"},
  };
  ScratchFolder folder;
  for (const Case& c : cases) {
    const std::string images = folder.write("i", c.images);
    const std::string labels = folder.write("l", c.labels);
    EXPECT_THAT(error_of([&] { (void)idx(images, labels); }), HasSubstr(c.message));
  }
}

TEST(idx, floating_point_labels_are_targets) {
  ScratchFolder folder;
  const Dataset set =
      idx(folder.write("i", small_images()),
          folder.write("l", idx_header(0x0D, {2, 2}) + big(1.f) + big(2.f) + big(3.f) + big(4.f)));
  EXPECT_EQ(set.fields()[1], (Field{"digit", {2}, DType::f32, true}));
  float image[6];
  float target[2];
  void* const out[] = {image, target};
  set.read(1, out);
  EXPECT_THAT(target, ElementsAre(3.f, 4.f));
}

TEST(idx, says_what_is_wrong_with_a_path) {
  ScratchFolder folder;
  const std::string labels = folder.write("l", small_labels());
  EXPECT_THAT(error_of([&] { (void)idx(folder.path("none"), labels); }),
              AllOf(HasSubstr(folder.path("none")), HasSubstr("no such file")));
  EXPECT_THAT(error_of([&] { (void)idx(folder.path(), labels); }),
              HasSubstr("is not a regular file"));
}

TEST(idx, error_messages_show_hostile_text_as_one_printable_line) {
  EXPECT_EQ(shown("a\nb\x1b[2J"), "\"a?b?[2J\"");
  EXPECT_THAT(shown(std::string(100, 'x')),
              AllOf(HasSubstr("..."), Not(HasSubstr(std::string(41, 'x')))));
}

}  // namespace
}  // namespace thimble::data::idx_test
