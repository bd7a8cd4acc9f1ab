#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "data/test_files.h"

namespace thimble::data::dataset_test {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Samples of one number each: 0, 1, 2 ...
Dataset counting(int64_t size) {
  return generator(size, {{"x", {1}, DType::f32}}, [](int64_t index, std::span<void* const> out) {
    *static_cast<float*>(out[0]) = static_cast<float>(index);
  });
}

int64_t value_of(const Dataset& dataset, int64_t index) {
  float value = -1;
  void* const out[] = {&value};
  dataset.read(index, out);
  return static_cast<int64_t>(value);
}

std::vector<int64_t> values_of(const Dataset& dataset) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < dataset.size(); ++i) values.push_back(value_of(dataset, i));
  return values;
}

TEST(dataset, take_and_subset_name_the_samples) {
  const Dataset ten = counting(10);
  EXPECT_THAT(values_of(ten.take(3)), ElementsAre(0, 1, 2));
  EXPECT_EQ(ten.take(11).size(), 10);
  EXPECT_THAT(values_of(ten.subset({7, 2, 7})), ElementsAre(7, 2, 7));
  EXPECT_THAT(values_of(ten.subset({7, 2, 5}).subset({2, 0})), ElementsAre(5, 7));
}

TEST(dataset, split_is_disjoint_complete_and_drawn_by_seed) {
  struct Case {
    int64_t size;
    double fraction;
    int64_t validation;
  };
  const Case cases[] = {{100, 0.2, 20}, {101, 0.2, 20}, {2, 0.01, 1}, {2, 0.99, 1}, {7, 0.5, 4}};
  for (const Case& c : cases) {
    const auto [train, validation] = counting(c.size).split(c.fraction, 1);
    EXPECT_EQ(validation.size(), c.validation);
    EXPECT_EQ(train.size(), c.size - c.validation);
    std::vector<int64_t> all = values_of(train);
    const std::vector<int64_t> rest = values_of(validation);
    all.insert(all.end(), rest.begin(), rest.end());
    EXPECT_EQ(std::set<int64_t>(all.begin(), all.end()).size(), static_cast<size_t>(c.size));
  }
  const Dataset hundred = counting(100);
  const auto drawn = [&](uint64_t seed) { return values_of(hundred.split(0.2, seed).second); };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
  EXPECT_GT(drawn(1).back(), 50) << "the validation set is drawn, not the first samples";
}

TEST(dataset, named_changes_the_names_alone) {
  const Dataset renamed = counting(3).named({"pixels"});
  EXPECT_EQ(renamed.fields()[0].name, "pixels");
  EXPECT_THAT(values_of(renamed.take(2)), ElementsAre(0, 1));
}

TEST(dataset, refuses_wrong_requests) {
  const Dataset ten = counting(10);
  float value;
  void* const one[] = {&value};
  void* const two[] = {&value, &value};
  EXPECT_THAT(error_of([&] { ten.read(10, one); }), HasSubstr("sample 10 asked for"));
  EXPECT_THAT(error_of([&] { ten.read(-1, one); }), HasSubstr("sample -1 asked for"));
  EXPECT_THAT(error_of([&] { ten.read(0, two); }), HasSubstr("2 destinations"));
  EXPECT_THAT(error_of([&] { (void)ten.take(0); }), HasSubstr("take(0)"));
  EXPECT_THAT(error_of([&] { (void)ten.subset({1, 10}); }), HasSubstr("sample 10"));
  EXPECT_THAT(error_of([&] { (void)ten.subset({}); }), HasSubstr("holds no samples"));
  EXPECT_THAT(error_of([&] { (void)ten.named({"a", "b"}); }), HasSubstr("2 names"));
  for (const double fraction : {0.0, 1.0, -0.1, 1.5, std::nan("")}) {
    EXPECT_THAT(error_of([&] { (void)ten.split(fraction, 0); }), HasSubstr("inside 0..1"));
  }
  EXPECT_NE(error_of([&] { (void)ten.take(1).split(0.5, 0); }), kNoError);
}

TEST(generator, refuses_wrong_fields) {
  struct Case {
    std::vector<Field> fields;
    std::string message;
  };
  const Case cases[] = {
      {{}, "has no fields"},
      {{{"", {1}}}, "has no name"},
      {{{"a", {1}}, {"a", {1}}}, "field 1 \"a\"] has the name of another field"},
      {{{"a", {3, 0}}}, "has shape [3, 0]"},
      {{{"a", {-3, -2}}}, "must be at least 1"},
  };
  const Fill nothing = [](int64_t, std::span<void* const>) {};
  for (const Case& c : cases) {
    EXPECT_THAT(error_of([&] { (void)generator(1, c.fields, nothing); }), HasSubstr(c.message));
  }
  EXPECT_THAT(error_of([&] {
                (void)generator(0, {{"a", {1}}}, nothing);
              }),
              HasSubstr("no samples"));
  EXPECT_THAT(error_of([&] {
                (void)generator(1, {{"a", {1}}}, nullptr);
              }),
              HasSubstr("no callback"));
}

TEST(in_memory, reads_every_field_in_its_type) {
  const Dataset set =
      in_memory({{"x", {2}, DType::f32}, {"mask", {3}, DType::u8}, {"y", {}, DType::i32, true}},
                {std::vector<float>{1, 2, 3, 4}, std::vector<uint8_t>{1, 2, 3, 4, 5, 255},
                 std::vector<int32_t>{-7, 8}});
  EXPECT_EQ(set.size(), 2);
  EXPECT_EQ(set.bytes(), 16 + 6 + 8);
  float x[2];
  uint8_t mask[3];
  int32_t y = 0;
  void* const out[] = {x, mask, &y};
  set.read(0, out);
  EXPECT_EQ(y, -7);
  set.read(1, out);
  EXPECT_THAT(x, ElementsAre(3, 4));
  EXPECT_THAT(mask, ElementsAre(4, 5, 255));
  EXPECT_EQ(y, 8);
}

TEST(in_memory, takes_every_type_and_reads_views_where_they_lie) {
  const std::vector<int64_t> wide = {int64_t{1} << 40, -5};
  for (const DType dtype : kDTypes) {
    const thimble::Array values =
        thimble::Array::view(std::span<const int64_t>(wide), {2}).cast(dtype);
    if (is_packed(dtype)) continue;
    const Dataset set = in_memory({{"x", {}, dtype}}, {values});
    std::vector<std::byte> read(static_cast<size_t>(size_bytes(dtype, {})));
    void* const out[] = {read.data()};
    set.read(1, out);
    EXPECT_TRUE(std::equal(read.begin(), read.end(),
                           values.bytes().begin() + static_cast<std::ptrdiff_t>(read.size())))
        << to_string(dtype);
  }
  const thimble::Array bits(DType::boolean, {2, 8});
  EXPECT_EQ(in_memory({{"x", {8}, DType::boolean}}, {bits}).size(), 2);
}

TEST(in_memory, refuses_values_that_do_not_fit_the_fields) {
  struct Case {
    std::vector<Field> fields;
    std::vector<Values> values;
    std::string message;
  };
  const std::vector<float> four = {1, 2, 3, 4};
  const Case cases[] = {
      {{{"x", {2}}}, {}, "1 fields, but 0 arrays"},
      {{{"x", {3}}}, {four}, "4 values are not whole samples of shape [3]"},
      {{{"x", {0}}}, {four}, "not whole samples"},
      {{{"x", {2}}, {"y", {1}}}, {four, four}, "\"y\"] holds 4 samples, but \"x\" holds 2"},
      {{{"x", {2}, DType::i32}}, {four}, "is i32, but its values are f32"},
      {{{"x", {2}}}, {std::vector<float>{}}, "holds no samples"},
      {{{"x", {2}}}, {thimble::Array(four, {1, 4})}, "but its values are [1, 4]: give [2, 2]"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(error_of([&] { (void)in_memory(c.fields, c.values); }), HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace thimble::data::dataset_test
