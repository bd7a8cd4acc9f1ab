#include "data/cifar.h"

#include <gmock/gmock.h>

#include "data/test_files.h"

namespace thimble::data::cifar_test {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A record whose planes are r, g and b, but for the pixel in row 1, column 2, which is 51, 102, 0.
std::string record(int label, char r, char g, char b) {
  std::string planes[3] = {std::string(1024, r), std::string(1024, g), std::string(1024, b)};
  planes[0][34] = 51;
  planes[1][34] = 102;
  planes[2][34] = 0;
  return std::string(1, static_cast<char>(label)) + planes[0] + planes[1] + planes[2];
}

void write_all(const ScratchFolder& folder, const std::string& prefix = "") {
  for (int i = 1; i <= 5; ++i) {
    const std::string name = prefix + "data_batch_" + std::to_string(i) + ".bin";
    folder.write(name, record(i, 1, 2, 3) + record(i - 1, 4, 5, 6));
  }
  folder.write(prefix + "test_batch.bin", record(9, '\xff', 0, 0));
}

TEST(cifar10, reads_planes_as_pixels_from_all_five_files_in_order) {
  ScratchFolder folder;
  write_all(folder);
  const Dataset set = cifar10(folder.path());
  EXPECT_EQ(set.size(), 10);
  EXPECT_EQ(set.fields()[0], (Field{"image", {32, 32, 3}, DType::f32, false}));
  EXPECT_EQ(set.fields()[1], (Field{"label", {}, DType::i32, true}));
  EXPECT_EQ(set.bytes(), 10 * 3073);
  const Sample sample = sample_of(set, 4);  // the first of the third file
  EXPECT_EQ(sample.label, 3);
  const auto pixel = [&](size_t i) {
    return std::vector(sample.features.begin() + static_cast<long>(3 * i),
                       sample.features.begin() + static_cast<long>(3 * i + 3));
  };
  EXPECT_THAT(pixel(0), ElementsAre(1 / 255.0F, 2 / 255.0F, 3 / 255.0F));
  EXPECT_THAT(pixel(34), ElementsAre(0.2F, 0.4F, 0.0F));
  EXPECT_EQ(sample_of(set, 5).label, 2);
}

TEST(cifar10, keeps_training_and_test_apart_and_knows_the_usual_folder) {
  ScratchFolder folder;
  write_all(folder, "cifar-10-batches-bin/");
  const Dataset test = cifar10(folder.path(), Split::test);
  EXPECT_EQ(test.size(), 1);
  EXPECT_EQ(sample_of(test, 0).label, 9);
  EXPECT_EQ(sample_of(test, 0).features[0], 1.0F);
  EXPECT_EQ(cifar10(folder.path(), Split::train).size(), 10);
}

TEST(cifar10, says_where_it_looked) {
  ScratchFolder folder;
  write_all(folder);
  std::filesystem::remove(folder.path("data_batch_3.bin"));
  EXPECT_THAT(error_of([&] { (void)cifar10(folder.path()); }),
              AllOf(HasSubstr("data_batch_3.bin"), HasSubstr("not found; tried"),
                    HasSubstr("cifar-10-batches-bin/data_batch_3.bin")));
}

std::string parse_error(const std::string& bytes) {
  CifarRecords records;
  return error_of([&] { parse_cifar("c.bin", to_bytes(bytes), records); });
}

TEST(cifar10, refuses_a_file_cut_at_any_place) {
  const std::string whole = record(1, 0, 0, 0) + record(2, 0, 0, 0);
  EXPECT_EQ(parse_error(whole), kNoError);
  for (size_t size = 0; size < whole.size(); size += size < 3 || size > 3070 ? 1 : 100) {
    if (size == 3073) continue;  // one whole record
    EXPECT_THAT(parse_error(whole.substr(0, size)), HasSubstr("are not whole records")) << size;
  }
}

TEST(cifar10, names_record_and_offset_of_an_impossible_class) {
  EXPECT_THAT(parse_error(record(9, 0, 0, 0) + record(10, 0, 0, 0)),
              HasSubstr("record 1, offset 3073: the class is 10; expected 0..9"));
  EXPECT_THAT(parse_error(record('\xff', 0, 0, 0)), HasSubstr("the class is 255"));
}

}  // namespace
}  // namespace thimble::data::cifar_test
