// Data sets of the tests: one batch of samples, again every epoch.
#pragma once

#include <model.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace thimble::test::ml_train_test {

// A number for every place: scripts/ml_train_cases.py has the same.
inline std::vector<float> numbers(size_t count, double seed, double scale = 0.5,
                                  double shift = 0.0) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    const auto at = static_cast<double>(i);
    values[i] = static_cast<float>(
        shift + scale * std::sin(0.9 * at + 0.37 * static_cast<double>(i % 7) + seed));
  }
  return values;
}

// The message of the exception that a function throws; empty without one.
inline std::string message_of(const std::function<void()>& function) {
  try {
    function();
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

// Samples one after the other in each tensor.
struct Samples {
  std::vector<std::vector<float>> inputs;
  std::vector<std::vector<float>> labels;
  size_t count = 0;
  size_t next = 0;
  int epochs = 0;  // handed out whole

  int read(float** input, float** label, bool* last) {
    const auto copy = [&](const std::vector<float>& from, float* to) {
      const size_t n = from.size() / count;
      std::copy_n(from.data() + next * n, n, to);
    };
    for (size_t i = 0; i < inputs.size(); ++i) copy(inputs[i], input[i]);
    for (size_t i = 0; i < labels.size(); ++i) copy(labels[i], label[i]);
    *last = ++next == count;
    if (*last) {
      next = 0;
      ++epochs;
    }
    return 0;
  }
};

inline std::unique_ptr<ml::train::Dataset> dataset_of(Samples& samples) {
  return ml::train::createDataset(
      ml::train::DatasetType::GENERATOR,
      [](float** input, float** label, bool* last, void* user) {
        return static_cast<Samples*>(user)->read(input, label, last);
      },
      &samples);
}

}  // namespace thimble::test::ml_train_test
