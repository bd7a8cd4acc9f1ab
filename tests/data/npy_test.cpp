#include "data/npy.h"

#include <gmock/gmock.h>

#include "data/test_files.h"

namespace thimble::data::npy_test {
namespace {

using namespace testing;
using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file around a header, padded to 64 bytes as NumPy does.
std::string npy_file(std::string dict, const std::string& data, char major = 1) {
  const size_t prefix = major == 1 ? 10 : 12;
  while ((prefix + dict.size() + 1) % 64 != 0) dict += ' ';
  dict += '\n';
  std::string bytes = std::string("\x93NUMPY") + major + '\0';
  bytes += major == 1 ? little(static_cast<uint16_t>(dict.size()))
                      : little(static_cast<uint32_t>(dict.size()));
  return bytes + dict + data;
}

// The header that numpy.save writes.
std::string dict_of(const std::string& descr, const std::string& shape,
                    const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

std::string small_file() {
  return npy_file(dict_of("<f4", "(2, 3)"), little(1.f) + little(2.f) + little(3.f) + little(4.f) +
                                                little(5.f) + little(6.f));
}

std::string parse_error(const std::string& bytes) {
  return error_of([&] { (void)parse_npy("a.npy", to_bytes(bytes)); });
}

TEST(npy, reads_features_and_labels) {
  ScratchFolder folder;
  const std::string labels =
      npy_file(dict_of("<i8", "(2,)"), little<int64_t>(4) + little<int64_t>(9));
  const Dataset set = npy(folder.write("x.npy", small_file()), folder.write("y.npy", labels));
  EXPECT_EQ(set.size(), 2);
  EXPECT_EQ(set.fields()[0], (Field{"features", {3}, DType::f32, false}));
  EXPECT_EQ(set.fields()[1], (Field{"label", {}, DType::i32, true}));
  const Sample second = sample_of(set, 1);
  EXPECT_THAT(second.features, ElementsAre(4, 5, 6));
  EXPECT_EQ(second.label, 9);
}

TEST(npy, converts_every_element_type) {
  struct Case {
    std::string descr;
    std::string values;  // two of them
    std::vector<float> expected;
  };
  const Case cases[] = {
      {"|u1", "\x01\xff", {1 / 255.f, 1}},
      {"<u1", "\x01\xff", {1 / 255.f, 1}},
      {"|i1", "\x01\xff", {1, -1}},
      {"|b1", std::string("\0\1", 2), {0, 1}},
      {"<u2", little<uint16_t>(65535) + little<uint16_t>(2), {65535, 2}},
      {"<i2", little<int16_t>(-300) + little<int16_t>(2), {-300, 2}},
      {"<u4", little<uint32_t>(1u << 31) + little<uint32_t>(2), {2147483648.f, 2}},
      {"<i4", little<int32_t>(-70000) + little<int32_t>(2), {-70000, 2}},
      {"<u8", little<uint64_t>(1ull << 63) + little<uint64_t>(2), {9223372036854775808.f, 2}},
      {"<i8", little<int64_t>(-5) + little<int64_t>(2), {-5, 2}},
      {"<f2", "\x00\x3c\x01\x80"s, {1, -0x1p-24f}},
      {">f2", "\xc0\x00\x7b\xff"s, {-2, 65504}},
      {"<f4", little(0.1f) + little(-2.f), {0.1f, -2}},
      {">f4", big(0.1f) + big(-2.f), {0.1f, -2}},
      {">i2", big<int16_t>(-300) + big<int16_t>(2), {-300, 2}},
      {"<f8", little(0.1) + little(-2.), {0.1f, -2}},
  };
  ScratchFolder folder;
  const std::string labels = folder.write("y", npy_file(dict_of("|u1", "(1, 1)"), "\x05"));
  for (const Case& c : cases) {
    SCOPED_TRACE(c.descr);
    const Dataset set =
        npy(folder.write("x", npy_file(dict_of(c.descr, "(1, 2)"), c.values)), labels);
    const Sample sample = sample_of(set, 0);
    EXPECT_EQ(sample.features, c.expected);
    EXPECT_EQ(sample.label, 5);
  }
}

TEST(npy, reads_every_version_and_spelling_of_the_header) {
  const std::string data = little(1.f) + little(2.f);
  for (const char major : {1, 2, 3}) {
    EXPECT_EQ(parse_error(npy_file(dict_of("<f4", "(2, 1)"), data, major)), kNoError) << int{major};
  }
  const std::string spellings[] = {
      "{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"<f4\"}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 1L)}",
      "{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }",
  };
  for (const std::string& dict : spellings) {
    EXPECT_EQ(parse_error(npy_file(dict, data)), kNoError) << dict;
  }
}

TEST(npy, refuses_a_file_cut_at_any_byte) {
  const std::string whole = small_file();
  EXPECT_EQ(parse_error(whole), kNoError);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(parse_error(whole.substr(0, size)), HasSubstr("[a.npy]")) << size;
  }
  EXPECT_THAT(parse_error(whole + "x"), HasSubstr("needs 24 bytes, but 25 follow"));
}

TEST(npy, names_what_is_wrong) {
  const std::string data = little(1.f) + little(2.f);
  std::string version = small_file();
  version[6] = 4;
  std::string long_header = small_file();
  long_header[8] = long_header[9] = '\xff';
  struct Case {
    std::string bytes;
    std::string message;
  };
  const Case cases[] = {
      {std::string("\x93NUMPX\1\0", 8), "is no .npy file"},
      {version, "version 4.0 is unknown"},
      {long_header, "ends inside the header: 65535 bytes needed at offset 10"},
      {npy_file(dict_of("=f4", "(2,)"), data), "element type \"=f4\" is not supported"},
      {npy_file(dict_of("<f16", "(1,)"), data), "\"<f16\" is not supported"},
      {npy_file(dict_of("|f4", "(2,)"), data), "\"|f4\" is not supported"},
      {npy_file(dict_of("<c8", "(1,)"), data), "is not supported"},
      {npy_file(dict_of("|O", "(1,)"), data), "is not supported"},
      {npy_file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", data),
       "structured types"},
      {npy_file(dict_of("<f4", "(2, 1)", "True"), data), "Fortran order"},
      {npy_file(dict_of("<f4", "(2, 1)", "Maybe"), data), "expected True or False"},
      {npy_file(dict_of("<f4", "()"), little(1.f)), "holds a scalar"},
      {npy_file(dict_of("<f4", "(0, 784)"), ""), "dimension 0 is 0"},
      {npy_file(dict_of("<f4", "(2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)"), data),
       "has 17 dimensions; at most 16 are read"},
      {npy_file(dict_of("<f4", "(2, -1)"), data), "dimension 1 is -1"},
      {npy_file(dict_of("<f4", "(2, x)"), data), "expected a whole number"},
      {npy_file(dict_of("<f4", "(99999999999999999999,)"), data), "below 2^63"},
      {npy_file(dict_of("<f8", "(2147483648, 2147483648)"), data), "holds more than"},
      {npy_file(dict_of("<f4", "(2147483648, 2)"), data), "needs 17179869184 bytes, but 8 follow"},
      {npy_file("{'descr': '<f4', 'fortran_order': False}", data), "shape is missing"},
      {npy_file("{'descr': '<f4', 'descr': '<f4'}", data), "repeated key \"descr\""},
      {npy_file("{'descr': '<f4' 'shape': (2,)}", data), "header, offset 26: expected ','"},
      {npy_file("{'a\nb': 1}", data), "key \"a?b\""},
      {npy_file("{'descr: 1}", data), "a string does not end"},
      {npy_file("[]", data), "expected '{'"},
      {npy_file(dict_of("<f4", "(2,)") + " 1", data), "something follows"},
      {npy_file(std::string(), data), "expected '{'"},
  };
  for (const Case& c : cases) EXPECT_THAT(parse_error(c.bytes), HasSubstr(c.message));
}

TEST(npy, refuses_labels_that_do_not_belong) {
  ScratchFolder folder;
  const std::string features = folder.write("x", small_file());
  struct Case {
    std::string labels;
    std::string message;
  };
  const Case cases[] = {
      {npy_file(dict_of("|u1", "(3,)"), "abc"), "holds 3 labels"},
      {npy_file(dict_of("<i8", "(2,)"), little<int64_t>(1) + little<int64_t>(1ll << 31)),
       "element 0 of sample 1 is 2147483648"},
      {npy_file(dict_of("<u8", "(2,)"), little<uint64_t>(~0ull) + little<uint64_t>(1)),
       "element 0 of sample 0 is 18446744073709551615"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(error_of([&] { (void)npy(features, folder.write("y", c.labels)); }),
                HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace thimble::data::npy_test
