#include "recipes/digits_data.h"

namespace thimble::models {
namespace {

// As many for training as a sixth of MNIST has; enough of the rest for a steady test figure.
constexpr int64_t kTrain = 10000;
constexpr int64_t kTest = 2000;
constexpr uint64_t kSeed = 1;

}  // namespace

data::Dataset digits_data(const std::string& path, data::Split split) {
  if (!path.empty()) return data::mnist(path, split);
  return data::digits(split == data::Split::train ? kTrain : kTest, kSeed, split);
}

}  // namespace thimble::models
