// Splits that keep the shares of the classes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/data_split.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "harness/error_of.h"

namespace thimble::data::data_split_test {
namespace {

using test::error_of;
using ::testing::HasSubstr;

// 60 samples of class 5, 20 of class 0 and 3 of class -1, mixed; "number" counts the samples.
Dataset mixed() {
  std::vector<int32_t> numbers(83);
  std::vector<int64_t> classes(83);
  for (int i = 0; i < 83; ++i) {
    const int place = i * 37 % 83;
    numbers[static_cast<size_t>(i)] = i;
    classes[static_cast<size_t>(i)] = place < 60 ? 5 : place < 80 ? 0 : -1;
  }
  return in_memory({{"number", {}, DType::i32}, {"kind", {}, DType::i64, true}},
                   {numbers, classes});
}

std::vector<int32_t> numbers_of(const Dataset& set, std::map<int64_t, int>* counts = nullptr) {
  std::vector<int32_t> numbers;
  for (int64_t i = 0; i < set.size(); ++i) {
    int32_t number = 0;
    int64_t kind = 0;
    void* const out[] = {&number, &kind};
    set.read(i, out);
    numbers.push_back(number);
    if (counts != nullptr) ++(*counts)[kind];
  }
  return numbers;
}

TEST(stratified_split, gives_every_class_its_share) {
  const auto parts = stratified_split(mixed(), "kind", 0.1, 3);
  std::map<int64_t, int> training;
  std::map<int64_t, int> validation;
  std::vector<int32_t> all = numbers_of(parts.first, &training);
  const std::vector<int32_t> rest = numbers_of(parts.second, &validation);
  EXPECT_EQ(training, (std::map<int64_t, int>{{5, 54}, {0, 18}, {-1, 2}}));
  EXPECT_EQ(validation, (std::map<int64_t, int>{{5, 6}, {0, 2}, {-1, 1}}));
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  all.insert(all.end(), rest.begin(), rest.end());
  EXPECT_EQ(std::set<int32_t>(all.begin(), all.end()).size(), 83U);
  EXPECT_EQ(numbers_of(stratified_split(mixed(), "kind", 0.1, 3).second), rest);
  EXPECT_NE(numbers_of(stratified_split(mixed(), "kind", 0.1, 4).second), rest);
}

TEST(stratified_split, says_what_does_not_fit) {
  const auto message = [](const Dataset& set, const char* label, double fraction) {
    return error_of([&] { static_cast<void>(stratified_split(set, label, fraction, 0)); });
  };
  EXPECT_THAT(message(mixed(), "other", 0.1),
              HasSubstr("[other] is no field with one whole number a sample; such fields: number"));
  EXPECT_THAT(message(mixed(), "kind", 1.0), HasSubstr("expected a fraction inside 0..1, got 1"));
  EXPECT_THAT(message(mixed(), "number", 0.5), HasSubstr("class 0 has one sample; two are needed"));
}

}  // namespace
}  // namespace thimble::data::data_split_test
