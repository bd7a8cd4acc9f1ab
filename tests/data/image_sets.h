// Shared by the tests of drawn image sets: a checksum, and two properties of such a set.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "data/test_files.h"

namespace thimble::data::testing {

// A checksum over the labels and the images as bytes.
inline uint32_t checksum(const Dataset& set) {
  uLong sum = crc32(0, nullptr, 0);
  for (int64_t i = 0; i < set.size(); ++i) {
    const Sample sample = sample_of(set, i);
    std::vector<Bytef> bytes = {static_cast<Bytef>(sample.label)};
    for (const float value : sample.features) {
      bytes.push_back(static_cast<Bytef>(std::lround(value * 255)));
    }
    sum = crc32(sum, bytes.data(), static_cast<uInt>(bytes.size()));
  }
  return static_cast<uint32_t>(sum);
}

// Number of samples of each of the ten classes.
inline std::vector<int> histogram_of(const Dataset& set) {
  std::vector<int> histogram(10);
  for (int64_t i = 0; i < set.size(); ++i) {
    ++histogram.at(static_cast<size_t>(sample_of(set, i).label));
  }
  return histogram;
}

// draw(count, seed, split) must return samples that depend on seed, split and index alone.
template <class Draw>
void expect_depends_on_seed_split_and_index(const Draw& draw) {
  const Dataset many = draw(100, 7, Split::train);
  const Dataset few = draw(30, 7, Split::train);
  const Dataset other_seed = draw(30, 8, Split::train);
  const Dataset test = draw(30, 7, Split::test);
  for (int64_t i = 0; i < 30; ++i) {
    EXPECT_EQ(sample_of(many, i).features, sample_of(few, i).features);
    EXPECT_EQ(sample_of(many, i).label, sample_of(few, i).label);
    EXPECT_NE(sample_of(many, i).features, sample_of(other_seed, i).features);
    EXPECT_NE(sample_of(many, i).features, sample_of(test, i).features);
  }
}

// The fraction of test's images that are nearest to the mean image of their own class in train,
// which has equally many samples of the ten classes.
inline double recognized_by_mean_images(const Dataset& train, const Dataset& test) {
  const auto elements = static_cast<size_t>(train.fields()[0].shape.elements());
  std::vector<std::vector<double>> mean(10, std::vector<double>(elements));
  const double of_class = static_cast<double>(train.size()) / 10;
  for (int64_t i = 0; i < train.size(); ++i) {
    const Sample sample = sample_of(train, i);
    std::vector<double>& sum = mean.at(static_cast<size_t>(sample.label));
    for (size_t k = 0; k < elements; ++k) sum[k] += sample.features[k] / of_class;
  }
  int64_t right = 0;
  for (int64_t i = 0; i < test.size(); ++i) {
    const Sample sample = sample_of(test, i);
    std::vector<double> distance(10);
    for (size_t c = 0; c < 10; ++c) {
      for (size_t k = 0; k < elements; ++k) {
        const double difference = mean[c][k] - sample.features[k];
        distance[c] += difference * difference;
      }
    }
    const auto nearest = std::min_element(distance.begin(), distance.end()) - distance.begin();
    right += nearest == sample.label;
  }
  return static_cast<double>(right) / static_cast<double>(test.size());
}

}  // namespace thimble::data::testing
