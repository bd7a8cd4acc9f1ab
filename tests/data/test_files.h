// Helpers of the tests of the readers: scratch files, byte strings, samples as vectors.
#pragma once

#include <gtest/gtest.h>
#include <thimble/data.h>
#include <thimble/error.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "harness/error_of.h"

namespace thimble::data::testing {

// A folder of its own for one test, removed at its end.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "thimble_data_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] std::string path(const std::string& name = "") const {
    return (std::filesystem::path(path_) / name).string();
  }
  // Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

 private:
  std::string path_;
};

inline std::vector<std::byte> to_bytes(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

// The value's bytes as they lie in memory (the tests run on little-endian machines).
template <class T>
std::string little(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}
template <class T>
std::string big(T value) {
  const std::string bytes = little(value);
  return {bytes.rbegin(), bytes.rend()};
}

using test::error_of;
using test::kNoError;

struct Sample {
  std::vector<float> features;
  int32_t label = -1;
};

// Sample i of a data set with f32 features and a scalar i32 label.
inline Sample sample_of(const Dataset& dataset, int64_t i) {
  Sample sample;
  sample.features.resize(static_cast<size_t>(dataset.fields()[0].shape.elements()));
  void* const out[] = {sample.features.data(), &sample.label};
  dataset.read(i, out);
  return sample;
}

}  // namespace thimble::data::testing
