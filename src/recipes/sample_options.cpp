#include "recipes/sample_options.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <cmath>

namespace thimble::models {
namespace {

constexpr const char* kWhere = "sample";
constexpr int64_t kMostSamples = 100000;
constexpr int64_t kMostTextBytes = int64_t{1} << 30;  // of all texts together
constexpr int64_t kBytes = 256;                       // values of a byte
constexpr int kMostThreads = 1024;

class Check {
 public:
  Check(const Recipe& recipe, Spelling spelling) : recipe_(recipe), spelling_(spelling) {}

  void meaning(const char* name, bool given, bool has_meaning) const {
    if (!given || has_meaning) return;
    throw Error(kWhere, fmt::format("{} takes no {}; it takes {}", recipe_.name, spelled(name),
                                    all_taken()));
  }

  void range(const char* name, int64_t value, int64_t low, int64_t high) const {
    if (value >= low && value <= high) return;
    const std::string expected = high == INT64_MAX ? fmt::format("{} or more", low)
                                                   : fmt::format("from {} to {}", low, high);
    throw Error(kWhere, fmt::format("{} must be {}, got {}", spelled(name), expected, value));
  }

  void temperature(double value) const {
    if (std::isfinite(value) && value >= 0.0) return;
    throw Error(kWhere, fmt::format("{} must be a finite number of 0 or more, got {}",
                                    spelled("temperature"), value));
  }

  // Checks the memory of `count` texts of `bytes` bytes each, a positive number.
  void memory(int64_t count, int64_t bytes) const {
    if (bytes <= kMostTextBytes / count) return;
    throw Error(kWhere,
                fmt::format("{} texts of {} bytes are more than the {} bytes of one call; "
                            "lower {} or {}",
                            count, bytes, kMostTextBytes, spelled("count"), spelled("length")));
  }

 private:
  [[nodiscard]] std::string spelled(std::string name) const {
    if (spelling_ == Spelling::names) return name;
    std::replace(name.begin(), name.end(), '_', '-');
    return "--" + name;
  }

  [[nodiscard]] std::string all_taken() const {
    std::string all = spelled("count") + ", " + spelled("seed");
    const auto add = [&](const char* name) { all += ", " + spelled(name); };
    if (recipe_.makes == SampleKind::texts) {
      for (const char* name : {"prompt", "length", "temperature", "top_k"}) add(name);
    }
    if (recipe_.sample_steps > 0) add("steps");
    add("threads");
    return all;
  }

  const Recipe& recipe_;
  Spelling spelling_;
};

std::string recipes_of(SampleKind kind) {
  std::string names;
  for (const Recipe& recipe : recipes()) {
    if (recipe.makes == kind) names += (names.empty() ? "" : ", ") + std::string(recipe.name);
  }
  return names;
}

}  // namespace

void check_sample_options(const Recipe& recipe, const SampleOptions& options, Spelling spelling) {
  if (recipe.makes == SampleKind::none) {
    throw Error(kWhere, fmt::format("{} makes no samples; recipes that do make {}", recipe.name,
                                    recipes_that_sample()));
  }
  const Check check(recipe, spelling);
  const bool texts = recipe.makes == SampleKind::texts;
  check.meaning("prompt", !options.prompt.empty(), texts);
  check.meaning("length", options.length.has_value(), texts);
  check.meaning("temperature", options.temperature.has_value(), texts);
  check.meaning("top_k", options.top_k.has_value(), texts);
  check.meaning("steps", options.steps.has_value(), recipe.sample_steps > 0);
  check.range("count", options.count, 1, kMostSamples);
  check.range("threads", options.threads, 0, kMostThreads);
  if (options.length) check.range("length", *options.length, 1, kMostTextBytes);
  if (texts) {
    check.memory(options.count,
                 static_cast<int64_t>(options.prompt.size()) + options.length.value_or(1));
  }
  if (options.temperature) check.temperature(*options.temperature);
  if (options.top_k) check.range("top_k", *options.top_k, 1, kBytes);
  if (options.steps) check.range("steps", *options.steps, 1, recipe.most_steps);
}

std::string recipes_that_sample() {
  return "images: " + recipes_of(SampleKind::images) + "; texts: " + recipes_of(SampleKind::texts);
}

}  // namespace thimble::models

namespace thimble {

Shape Samples::image() const {
  if (images.shape().rank() != 4) throw Error("sample", "these are texts, no images");
  return {images.shape()[1], images.shape()[2], images.shape()[3]};
}

Samples Recipe::sample(const std::string& checkpoint, const SampleOptions& options) const {
  models::check_sample_options(*this, options);
  return sampler(checkpoint, options);
}

}  // namespace thimble
