#include <gmock/gmock.h>

#include <algorithm>

#include "data/gzip_of.h"
#include "data/test_files.h"
#include "harness/given_data.h"

namespace thimble::data::mnist_test {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string images_of(uint32_t count, uint32_t side, char value) {
  return std::string("\0\0\x08\x03", 4) + big(count) + big(side) + big(side) +
         std::string(count * side * side, value);
}
std::string labels_of(uint32_t count, char value) {
  return std::string("\0\0\x08\x01", 4) + big(count) + std::string(count, value);
}

TEST(mnist, finds_the_files_under_every_usual_name) {
  struct Case {
    std::string images;
    std::string labels;
    bool packed;
  };
  const Case cases[] = {
      {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", false},
      {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", true},
      {"train-images.idx3-ubyte", "train-labels.idx1-ubyte", false},
      {"mnist/train-images-idx3-ubyte", "mnist/train-labels-idx1-ubyte.gz", false},
  };
  for (const Case& c : cases) {
    ScratchFolder folder;
    const std::string images = images_of(3, 28, 51);
    folder.write(c.images, c.packed ? gzip_of(images) : images);
    folder.write(c.labels, c.packed ? gzip_of(labels_of(3, 7)) : labels_of(3, 7));
    const Dataset set = mnist(folder.path());
    EXPECT_EQ(set.size(), 3);
    EXPECT_EQ(sample_of(set, 2).features[783], 0.2f);
    EXPECT_EQ(sample_of(set, 2).label, 7);
  }
}

TEST(mnist, keeps_training_and_test_apart) {
  ScratchFolder folder;
  folder.write("train-images-idx3-ubyte", images_of(2, 28, 1));
  folder.write("train-labels-idx1-ubyte", labels_of(2, 1));
  folder.write("t10k-images-idx3-ubyte", images_of(1, 28, 2));
  folder.write("t10k-labels-idx1-ubyte", labels_of(1, 2));
  EXPECT_EQ(mnist(folder.path(), Split::train).size(), 2);
  EXPECT_EQ(mnist(folder.path(), Split::test).size(), 1);
  EXPECT_EQ(sample_of(mnist(folder.path(), Split::test), 0).label, 2);
}

TEST(mnist, says_where_it_looked) {
  ScratchFolder folder;
  EXPECT_THAT(error_of([&] { (void)mnist(folder.path("d")); }),
              AllOf(HasSubstr("[train-images-idx3-ubyte] not found"),
                    HasSubstr(folder.path("d/train-images-idx3-ubyte.gz")),
                    HasSubstr(folder.path("d/mnist/train-images-idx3-ubyte"))));
  folder.write("d/t10k-images-idx3-ubyte", images_of(1, 28, 2));
  EXPECT_THAT(error_of([&] { (void)mnist(folder.path("d"), Split::test); }),
              HasSubstr("[t10k-labels-idx1-ubyte] not found"));
}

TEST(mnist, refuses_images_of_another_size) {
  ScratchFolder folder;
  folder.write("train-images-idx3-ubyte", images_of(2, 32, 1));
  folder.write("train-labels-idx1-ubyte", labels_of(2, 1));
  EXPECT_THAT(error_of([&] { (void)mnist(folder.path()); }), HasSubstr("[32, 32, 1]"));
}

TEST(mnist, reads_the_real_set) {
  const std::string folder = test::given_data("mnist");
  if (folder.empty()) GTEST_SKIP() << "set THIMBLE_DATA to a folder with mnist/";
  for (const Split split : {Split::train, Split::test}) {
    const Dataset set = mnist(folder, split);
    ASSERT_GE(set.size(), 10000);
    std::vector<int64_t> histogram(10);
    double sum = 0;
    for (int64_t i = 0; i < set.size(); ++i) {
      const Sample sample = sample_of(set, i);
      ASSERT_TRUE(sample.label >= 0 && sample.label < 10) << i;
      ++histogram[static_cast<size_t>(sample.label)];
      for (const float value : sample.features) {
        ASSERT_TRUE(value >= 0 && value <= 1) << i;
        sum += value;
      }
    }
    for (const int64_t count : histogram) {
      EXPECT_GT(count, set.size() * 8 / 100);
      EXPECT_LT(count, set.size() * 12 / 100);
    }
    EXPECT_NEAR(sum / static_cast<double>(set.size() * 784), 0.131, 0.003) << "MNIST's mean";
  }
}

TEST(dat_records, reads_the_real_records) {
  const std::string path = test::given_data("mnist/nntrainer_mnist_1000.dat");
  if (path.empty()) {
    GTEST_SKIP() << "set THIMBLE_DATA to a folder with mnist/nntrainer_mnist_1000.dat";
  }
  const Dataset set = dat_records(path);
  ASSERT_EQ(set.size(), 1000);
  std::vector<int> histogram(10);
  float highest = 0;
  for (int64_t i = 0; i < set.size(); ++i) {
    const Sample sample = sample_of(set, i);
    ++histogram.at(static_cast<size_t>(sample.label));
    highest = std::max(highest, *std::max_element(sample.features.begin(), sample.features.end()));
  }
  EXPECT_EQ(highest, 1);
  for (const int count : histogram) EXPECT_GT(count, 50);
}

}  // namespace
}  // namespace thimble::data::mnist_test
