// data::open for files of arrays: .npz, .npy, safetensors, IDX.
#include <gmock/gmock.h>
#include <thimble/data_open.h>

#include "data/gzip_of.h"
#include "data/zip_of.h"
#include "io/safetensors/safetensors.h"

namespace thimble::data::open_arrays_test {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<Field> kFields = {{"image", {2, 2, 1}, DType::f32},
                                    {"digit", {}, DType::i32, true}};
const OpenOptions kTrain{.split = Split::train};
const OpenOptions kTest{.split = Split::test};

std::string floats_of(std::vector<float> values) {
  std::string bytes;
  for (const float value : values) bytes += little(value);
  return bytes;
}
std::string longs_of(std::vector<int64_t> values) {
  std::string bytes;
  for (const int64_t value : values) bytes += little(value);
  return bytes;
}

const std::string kImages = npy_of("<f4", "(2, 2, 2)", floats_of({1, 2, 3, 4, 5, 6, 7, 8}));
const std::string kDigits = npy_of("<i8", "(2,)", longs_of({3, 9}));

void expect_two_samples(const Dataset& set) {
  ASSERT_EQ(set.size(), 2);
  EXPECT_EQ(set.fields(), kFields);
  EXPECT_THAT(sample_of(set, 1).features, ElementsAre(5, 6, 7, 8));
  EXPECT_EQ(sample_of(set, 0).label, 3);
  EXPECT_EQ(sample_of(set, 1).label, 9);
}

TEST(open, reads_npz_by_name) {
  const ScratchFolder folder;
  for (const bool deflated : {false, true}) {
    expect_two_samples(open(folder.write("a.npz", zip_of({{"image.npy", kImages, deflated},
                                                          {"digit.npy", kDigits, deflated},
                                                          {"readme.txt", "no array"}})),
                            kFields));
  }
  expect_two_samples(
      open(folder.write("a.npz", zip_of({{"y.npy", kDigits}, {"X.npy", kImages}})), kFields));
  EXPECT_THAT(error_of([&] {
                (void)open(folder.write("a.npz", zip_of({{"a.npy", kDigits}, {"b.npy", kImages}})),
                           kFields);
              }),
              HasSubstr("a.npz] has no array for the input \"image\" f32[2, 2, 1]; it has \"a\""));
}

TEST(open, takes_the_parts_that_names_tell) {
  const ScratchFolder folder;
  const std::string other = npy_of("<i8", "(3,)", longs_of({0, 1, 2}));
  const std::string images = npy_of("|u1", "(3, 4)", std::string(12, '\xff'));
  const std::string file = folder.write("a.npz", zip_of({{"x_train.npy", kImages},
                                                         {"y_train.npy", kDigits},
                                                         {"x_test.npy", images},
                                                         {"y_test.npy", other}}));
  expect_two_samples(open(file, kFields, kTrain));
  const Dataset test = open(file, kFields, kTest);
  ASSERT_EQ(test.size(), 3);
  EXPECT_THAT(sample_of(test, 2).features, ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(error_of([&] { (void)open(file, kFields); }),
              HasSubstr("has a training and a test part; say"));
}

TEST(open, reads_npy_files_by_name) {
  const ScratchFolder folder;
  folder.write("set/image.npy", kImages);
  folder.write("set/digit.npy", kDigits);
  expect_two_samples(open(folder.path("set"), kFields));
  expect_two_samples(
      open(folder.path("set/image.npy") + "," + folder.path("set/digit.npy"), kFields));
  const std::string one = folder.write("one.npy", kImages);
  const std::string two = folder.write("two.npy", kDigits);
  expect_two_samples(open("digit=" + two + ",image=" + one, kFields));
  EXPECT_EQ(open(one, {kFields[0]}).size(), 2);
  EXPECT_THAT(error_of([&] { (void)open(one, kFields); }), HasSubstr("has no array for the"));
  EXPECT_THAT(error_of([&] { (void)open("image=" + one + ",digit=none.npy", kFields); }),
              HasSubstr("[none.npy] no such file"));
}

TEST(open, reads_safetensors_by_name_and_converts) {
  const ScratchFolder folder;
  const std::string file = folder.path("a.safetensors");
  const std::string half_bytes("\x00\x3c\x00\x40\x00\x42\x00\x44\x00\x45\x00\x46\x00\x47\x00\x48",
                               16);
  const std::vector<uint8_t> classes = {3, 9};
  const std::vector<float> scalar = {1};
  const auto half = to_bytes(half_bytes);
  io::write_safetensors(
      file,
      std::vector<io::TensorView>{{"scale", DType::f32, {}, std::as_bytes(std::span(scalar))},
                                  {"image", DType::f16, {2, 2, 2, 1}, half},
                                  {"digit", DType::u8, {2, 1}, std::as_bytes(std::span(classes))}},
      {});
  expect_two_samples(open(file, kFields));
  EXPECT_EQ(open(file, kFields).bytes(), 18);  // small, so that it lies in memory
}

TEST(open, refuses_booleans_that_are_neither_0_nor_1) {
  const ScratchFolder folder;
  const std::string rows("\1\0\2\1", 4);
  const auto array = to_bytes(rows);
  const std::string tensors = folder.path("a.safetensors");
  io::write_safetensors(tensors, std::vector<io::TensorView>{{"x", DType::boolean, {2, 2}, array}},
                        {});
  const std::string npy = npy_of("|b1", "(2, 2)", rows);
  const std::string packed = folder.write("a.npz", zip_of({{"x.npy", npy}}));
  const std::string plain = folder.write("x.npy", npy);
  for (const std::string& file : {tensors, packed, plain}) {
    for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::u8, DType::i8}) {
      const auto opened = [&] { (void)open(file, {{"x", {2}, dtype}}); };
      EXPECT_THAT(error_of(opened),
                  HasSubstr("element 0 of sample 1 is 2; a boolean is a byte of 0 or 1"))
          << file << " " << to_string(dtype);
    }
  }
  const std::string labels = folder.write("y.npy", npy_of("|b1", "(2,)", std::string("\1\3", 2)));
  const std::string features = folder.write("f.npy", npy_of("<f4", "(2,)", floats_of({1, 2})));
  EXPECT_THAT(error_of([&] { (void)data::npy(features, labels); }), HasSubstr("y.npy] element 0"));
}

TEST(open, reads_idx_with_the_labels_beside) {
  const ScratchFolder folder;
  const std::string images = std::string("\0\0\x0d\3", 4) + big<uint32_t>(2) + big<uint32_t>(2) +
                             big<uint32_t>(2) + big(1.F) + big(2.F) + big(3.F) + big(4.F) +
                             big(5.F) + big(6.F) + big(7.F) + big(8.F);
  const std::string labels = std::string("\0\0\x08\1", 4) + big<uint32_t>(2) + "\x03\x09";
  const std::string plain = folder.write("train-images-idx3-ubyte", images);
  EXPECT_THAT(error_of([&] { (void)open(plain, kFields); }), HasSubstr("no file of its labels"));
  folder.write("train-labels-idx1-ubyte", labels);
  expect_two_samples(open(plain, kFields));
  EXPECT_EQ(open(plain, {kFields[0]}).size(), 2);
  folder.write("gz/train-labels-idx1-ubyte.gz", gzip_of(labels));
  expect_two_samples(open(folder.write("gz/train-images-idx3-ubyte.gz", gzip_of(images)), kFields));
  // Files named for what they feed.
  folder.write("named/image.idx", images);
  folder.write("named/digit-idx1-ubyte.gz", gzip_of(labels));
  expect_two_samples(open(folder.path("named"), kFields));
  const std::string other = folder.write("other", labels);
  expect_two_samples(open("digit=" + other + "," + folder.path("named/image.idx"), kFields));
  // The four files of a set.
  folder.write("t10k-images-idx3-ubyte", images);
  folder.write("t10k-labels-idx1-ubyte", labels);
  expect_two_samples(open(folder.path(), kFields, kTrain));
  expect_two_samples(open(folder.path(), kFields, kTest));
  EXPECT_THAT(error_of([&] { (void)open(folder.path(), kFields); }),
              HasSubstr("say by OpenOptions"));
}

TEST(open, draws_a_test_part_where_there_is_none) {
  const ScratchFolder folder;
  std::vector<int64_t> numbers(100);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
  const std::string file = folder.write("a.npy", npy_of("<i8", "(100,)", longs_of(numbers)));
  const std::vector<Field> field = {{"a", {}, DType::i32}};
  OpenOptions train = kTrain;
  OpenOptions test = kTest;
  const auto values = [&](const OpenOptions& options) {
    const Dataset set = open(file, field, options);
    std::vector<int32_t> found;
    for (int64_t i = 0; i < set.size(); ++i) {
      int32_t value = -1;
      void* const out[] = {&value};
      set.read(i, out);
      found.push_back(value);
    }
    return found;
  };
  EXPECT_EQ(values({}).size(), 100);
  EXPECT_EQ(values(test).size(), 20);
  std::vector<int32_t> all = values(train);
  const std::vector<int32_t> rest = values(test);
  all.insert(all.end(), rest.begin(), rest.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, values({}));
  test.seed = 1;
  EXPECT_NE(values(test), rest);
  test.validation_split = 0.5;
  EXPECT_EQ(values(test).size(), 50);
  test.validation_split = 1;
  EXPECT_THAT(error_of([&] { (void)values(test); }),
              HasSubstr("is 1; it must lie between 0 and 1"));
}

TEST(open, draws_from_every_class_if_stratified) {
  const ScratchFolder folder;
  std::vector<int64_t> classes(100, 0);
  for (size_t i = 90; i < 100; ++i) classes[i] = 1;
  const std::string file = folder.write("kind.npy", npy_of("<i8", "(100,)", longs_of(classes)));
  const std::vector<Field> kind = {{"kind", {}, DType::i32, true}};
  OpenOptions options = kTest;
  options.stratified = true;
  const auto counts = [&] {
    const Dataset set = open(file, kind, options);
    std::vector<int64_t> found(2);
    for (int64_t i = 0; i < set.size(); ++i) {
      int32_t value = -1;
      void* const out[] = {&value};
      set.read(i, out);
      ++found.at(static_cast<size_t>(value));
    }
    return found;
  };
  for (const uint64_t seed : {0, 1, 2, 3}) {
    options.seed = seed;
    options.split = Split::test;
    EXPECT_EQ(counts(), (std::vector<int64_t>{18, 2}));
    options.split = Split::train;
    EXPECT_EQ(counts(), (std::vector<int64_t>{72, 8}));
  }
  // All samples are no part of them.
  options.split.reset();
  EXPECT_EQ(counts(), (std::vector<int64_t>{90, 10}));

  const auto refused = [&](const std::vector<Field>& wanted) {
    return error_of([&] { (void)open(file, wanted, options); });
  };
  EXPECT_THAT(refused({{"kind", {}, DType::i32}}), HasSubstr("no classes to follow"));
  EXPECT_THAT(refused({{"kind", {}, DType::f32, true}}), HasSubstr("no classes to follow"));
  EXPECT_THAT(refused({{"kind", {2}, DType::i32, true}}), HasSubstr("no classes to follow"));
  EXPECT_THAT(refused({{"kind", {}, DType::i32, true}, {"sort", {}, DType::i32, true}}),
              HasSubstr("\"kind\" or \"sort\""));
}

TEST(open, says_what_a_path_is_not) {
  const ScratchFolder folder;
  struct Case {
    std::string path;
    std::string message;
  };
  const Case cases[] = {
      {folder.path("none"), "none] no such file"},
      {folder.write("a.bin", "something"), "a.bin] is of no known kind; expected .npz"},
      {folder.write("b.npz", "PK\3\4 and twenty-two bytes more"),
       "is no zip archive, or cut short"},
      {folder.write("c.safetensors", "xx"), "c.safetensors] has 2 bytes"},
      {folder.write("empty/.hidden", ""), "empty] holds no data that can be read"},
  };
  for (const Case& c : cases) {
    const std::string path = c.path.ends_with(".hidden") ? folder.path("empty") : c.path;
    EXPECT_THAT(error_of([&] { (void)open(path, kFields); }), HasSubstr(c.message));
  }
  EXPECT_THAT(error_of([&] { (void)open(folder.path("a.bin"), std::vector<Field>{}); }),
              HasSubstr("is wanted for no field"));
}

}  // namespace
}  // namespace thimble::data::open_arrays_test
