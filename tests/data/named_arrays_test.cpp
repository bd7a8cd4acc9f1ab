#include "data/named_arrays.h"

#include <gmock/gmock.h>
#include <thimble/data_open.h>

#include "data/test_files.h"
#include "io/npy/npy_write.h"

namespace thimble::data::named_arrays_test {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Field kImage{"image", {2, 2, 1}, DType::f32};
const Field kDigit{"digit", {}, DType::i32, true};

StoredArray floats(const Shape& shape, float first = 0) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (float& value : values) value = first++;
  return make_array(std::move(values), shape);
}
StoredArray integers(const Shape& shape, int32_t first = 0) {
  std::vector<int32_t> values(static_cast<size_t>(shape.elements()));
  for (int32_t& value : values) value = first++;
  return make_array(std::move(values), shape);
}

std::string match_error(std::vector<NamedArray> arrays, std::vector<Field> wanted) {
  return error_of([&] { (void)matched("set", std::move(arrays), wanted); });
}

TEST(named_arrays, match_by_name_usual_name_and_what_is_left) {
  struct Case {
    std::string features;
    std::string labels;
  };
  for (const Case& c : {Case{"image", "digit"}, Case{"X", "y"}, Case{"features", "anything"},
                        Case{"anything", "digit"}, Case{"Images", "Labels"}}) {
    SCOPED_TRACE(c.features);
    const Dataset set =
        matched("set", {{c.labels, integers({3}, 5)}, {c.features, floats({3, 2, 2, 1})}},
                std::vector{kImage, kDigit});
    EXPECT_EQ(set.size(), 3);
    EXPECT_THAT(set.fields(), ElementsAre(kImage, kDigit));
    const Sample last = sample_of(set, 2);
    EXPECT_THAT(last.features, ElementsAre(8, 9, 10, 11));
    EXPECT_EQ(last.label, 7);
  }
}

TEST(named_arrays, names_of_the_model_come_first) {
  // "x" is a label here, whatever it is usually.
  const Dataset set = matched("set", {{"x", integers({2}, 4)}, {"y", floats({2, 2, 2, 1})}},
                              std::vector{Field{"y", {2, 2, 1}}, Field{"x", {}, DType::i32, true}});
  EXPECT_EQ(sample_of(set, 1).label, 5);
}

TEST(named_arrays, accepts_rows_and_dimensions_of_one) {
  for (const Shape& shape : {Shape{2, 2, 2}, Shape{2, 4}, Shape{2, 1, 2, 2}}) {
    const Dataset set = matched("set", {{"image", floats(shape)}, {"digit", integers({2, 1})}},
                                std::vector{kImage, kDigit});
    EXPECT_THAT(sample_of(set, 1).features, ElementsAre(4, 5, 6, 7));
  }
}

TEST(named_arrays, bytes_are_pixels_for_floating_inputs_alone) {
  const StoredArray bytes = make_array(std::vector<uint8_t>{0, 51, 255}, Shape{3});
  const Dataset set =
      matched("set", {{"a", bytes}, {"b", bytes}, {"c", bytes}},
              std::vector{Field{"a"}, Field{"b", {}, DType::f32, true}, Field{"c", {}, DType::u8}});
  float a = 0;
  float b = 0;
  uint8_t c = 0;
  void* const out[] = {&a, &b, &c};
  set.read(1, out);
  EXPECT_EQ(a, 51 / 255.F);
  EXPECT_EQ(b, 51.F);
  EXPECT_EQ(c, 51);
}

TEST(named_arrays, integers_go_to_every_integer_type_that_holds_them) {
  const auto field = [](DType dtype) { return std::vector{Field{"a", {}, dtype}}; };
  const auto error = [&](int32_t value, DType dtype) {
    return match_error({{"a", integers({1}, value)}}, field(dtype));
  };
  EXPECT_EQ(error(-128, DType::i8), kNoError);
  EXPECT_THAT(error(-129, DType::i8),
              HasSubstr("element 0 of sample 0 is -129; i8 holds -128 to "));
  EXPECT_EQ(error(255, DType::u8), kNoError);
  EXPECT_THAT(error(256, DType::u8), HasSubstr("u8 holds 0 to 255"));
  EXPECT_THAT(error(-1, DType::u32), HasSubstr("u32 holds 0 to 4294967295"));
  EXPECT_EQ(error(INT32_MIN, DType::i32), kNoError);
}

TEST(named_arrays, feed_every_type_of_field) {
  const auto bytes_as = [](DType dtype, StoredArray array) {
    const Dataset set =
        matched("set", {{"a", std::move(array)}}, std::vector{Field{"a", {8}, dtype}});
    std::vector<uint8_t> bytes(static_cast<size_t>(size_bytes(dtype, {8})), 0xee);
    void* const out[] = {bytes.data()};
    set.read(0, out);
    return thimble::Array::view(dtype, {8}, std::as_bytes(std::span(bytes))).owned();
  };
  const std::vector<int32_t> small = {0, 1, 1, 0, 1, 0, 0, 1};
  const std::vector<int64_t> wide(small.begin(), small.end());
  for (const DType dtype : kDTypes) {
    SCOPED_TRACE(to_string(dtype));
    const auto read = bytes_as(dtype, make_array(small, {1, 8}));
    EXPECT_EQ(read.floats(), std::vector<float>(small.begin(), small.end()));
    if (!thimble::is_floating(dtype)) {
      EXPECT_EQ(read.integers(), wide);
    }
  }
  const std::vector<float> real = {0, 0.1F, -2.5F, 65504, 1e-8F, -0.0F, 3, 4};
  EXPECT_EQ(bytes_as(DType::f64, make_array(real, {1, 8})).floats(), real);
  EXPECT_EQ(bytes_as(DType::f16, make_array(real, {1, 8})), thimble::Array(real).cast(DType::f16));
  EXPECT_EQ(bytes_as(DType::bf16, make_array(real, {1, 8})),
            thimble::Array(real).cast(DType::bf16));
  const auto error = [](StoredArray array, DType dtype) {
    return match_error({{"a", std::move(array)}}, {Field{"a", {2}, dtype}});
  };
  EXPECT_THAT(error(floats({1, 2}, 65504), DType::f16), HasSubstr("must be finite and fit f16"));
  EXPECT_THAT(error(integers({1, 2}, 65504), DType::f16), HasSubstr("is 65505; values must be"));
  EXPECT_THAT(error(integers({1, 2}, 7), DType::i4), HasSubstr("is 8; i4 holds -8 to 7"));
  EXPECT_THAT(error(integers({1, 2}, -1), DType::boolean), HasSubstr("is -1; bool holds 0 to 1"));
  EXPECT_THAT(error(integers({1, 2}, 32767), DType::i16), HasSubstr("i16 holds -32768 to 32767"));
  EXPECT_EQ(error(integers({1, 2}, -5), DType::i64), kNoError);
}

TEST(named_arrays, says_what_does_not_fit) {
  struct Case {
    std::vector<NamedArray> arrays;
    std::vector<Field> wanted;
    std::string message;
  };
  const Case cases[] = {
      {{{"a", floats({2, 4})}, {"b", floats({2, 4})}},
       {kImage, kDigit},
       "[set] has no array for the input \"image\" f32[2, 2, 1]; it has \"a\" f32[2, 4], \"b\" "},
      {{{"image", floats({2, 4})}}, {kImage, kDigit}, "no array for the label \"digit\" i32[]"},
      {{}, {kDigit}, "it has none"},
      {{{"image", floats({2, 5})}}, {kImage}, "[set: image] holds samples of [5], but the input"},
      {{{"a", floats({2, 3, 4, 5})}},
       {Field{"a", {4, 5, 3}}},
       "put the channels last, with a.transpose(0, 2, 3, 1)"},
      {{{"image", floats({2, 4})}, {"digit", integers({3})}},
       {kImage, kDigit},
       "\"digit\" holds 3 samples, but \"image\" holds 2"},
      {{{"digit", floats({2})}}, {kDigit}, "holds f32, but the label \"digit\" takes i32"},
      {{{"a", floats({2, 4})}},
       {Field{"a", {4}, DType::i8}},
       "takes i8; quantize it by the input's"},
      {{{"a", make_array(std::vector<float>{1, NAN}, Shape{2})}},
       {Field{"a"}},
       "element 0 of sample 1 is nan"},
  };
  for (const Case& c : cases) EXPECT_THAT(match_error(c.arrays, c.wanted), HasSubstr(c.message));
}

TEST(open_arrays, reads_a_file_a_field) {
  ScratchFolder folder;
  const std::vector<float> pixels = {1, 2, 3, 4, 5, 6, 7, 8};
  io::write_npy(folder.path("x.npy"), DType::f32, {2, 2, 2}, std::as_bytes(std::span(pixels)));
  const std::vector<uint8_t> classes = {3, 4};
  io::write_npy(folder.path("y.npy"), DType::u8, {2}, std::as_bytes(std::span(classes)));
  const Dataset set = open_arrays({{kImage, folder.path("x.npy")}, {kDigit, folder.path("y.npy")}});
  EXPECT_THAT(sample_of(set, 1).features, ElementsAre(5, 6, 7, 8));
  EXPECT_EQ(sample_of(set, 1).label, 4);
  EXPECT_THAT(error_of([&] {
                (void)open_arrays({{kImage, folder.path("z.npy")}});
              }),
              HasSubstr("z.npy] no such file"));
  const std::vector<uint8_t> more = {3, 4, 5};
  io::write_npy(folder.path("y.npy"), DType::u8, {3}, std::as_bytes(std::span(more)));
  EXPECT_THAT(error_of([&] {
                (void)open_arrays({{kImage, folder.path("x.npy")}, {kDigit, folder.path("y.npy")}});
              }),
              HasSubstr("y.npy] holds 3 samples, but "));
}

TEST(open_arrays, fields_are_those_of_the_graph) {
  Graph graph;
  graph.input("image", {2, 2, 1});
  graph.label("digit");
  EXPECT_THAT(fields_of(graph), ElementsAre(kImage, kDigit));
  EXPECT_THAT(fields_of(graph, false), ElementsAre(kImage));
}

}  // namespace
}  // namespace thimble::data::named_arrays_test
