// The recipes beside PyTorch: from equal weights, on equal batches and noise, some steps lead to
// equal weights. PyTorch's side is recorded by scripts/goldens_twins.py, which says how.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "data/random.h"

namespace thimble::twins_test {
namespace {

// Relative to the norm of each array, against PyTorch in double precision. float32 has an error of
// about 1e-5, and more in a deep network with batch norm, where PyTorch's own float32 is the
// measure.
constexpr double kTolerance = 1e-4;
constexpr double kOwnShare = 4.0;
// Initial values are the same numbers, except for the last bits of the platform's logarithm.
constexpr double kStartTolerance = 1e-6;
const std::filesystem::path kGoldens = THIMBLE_SOURCE_DIR "/tests/models/twins";

nlohmann::json golden_of(const std::string& recipe) {
  std::ifstream file(kGoldens / (recipe + ".json"));
  return nlohmann::json::parse(file);
}

std::vector<std::string> recipes_with_goldens() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(kGoldens)) {
    names.push_back(file.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The size of a - b for two arrays known by projections on vectors of random signs.
double distance(const std::vector<float>& a, const std::vector<double>& b) {
  std::vector<double> sums(b.size(), 0.0);
  for (size_t i = 0; i < a.size(); ++i) {
    const uint64_t word = data::scatter(i + 1);
    for (size_t p = 0; p < sums.size(); ++p) {
      sums[p] += ((word >> p) & 1U) != 0 ? static_cast<double>(a[i]) : -static_cast<double>(a[i]);
    }
  }
  double squares = 0.0;
  for (size_t p = 0; p < sums.size(); ++p) squares += (sums[p] - b[p]) * (sums[p] - b[p]);
  return std::sqrt(squares / static_cast<double>(sums.size()));
}

class Twin {
 public:
  explicit Twin(const std::string& name, int64_t skipped_steps = 0)
      : recipe_(find_recipe(name)),
        golden_(golden_of(name)),
        steps_(golden_["steps"].get<int64_t>() - skipped_steps),
        dataset_(recipe_.data("", data::Split::train).take(golden_["samples"].get<int64_t>())),
        trainer_(recipe_.build(), options()) {}

  [[nodiscard]] TrainerOptions options() const {
    const bool plain_sgd = golden_.value("plain_sgd", false);
    TrainerOptions options{.optimizer = plain_sgd ? SGD{.lr = 1.0} : recipe_.optimizer(),
                           .batch = golden_.value("batch", recipe_.batch),
                           .seed = golden_["seed"].get<uint64_t>(),
                           .threads = 2};
    const int64_t batches = (dataset_.size() + options.batch - 1) / options.batch;
    if (recipe_.schedule != nullptr && !plain_sgd) {
      options.schedule =
          recipe_.schedule(options.optimizer.learning_rate(), recipe_.epochs * batches);
    }
    return options;
  }

  void train() {
    if (steps_ == 0) return;
    FitOptions fit;
    fit.on_step = [this](const StepReport& step) { losses_.push_back(step.loss); };
    fit.stop = [this] { return static_cast<int64_t>(losses_.size()) >= steps_; };
    static_cast<void>(trainer_.fit(dataset_, fit));
  }

  [[nodiscard]] double tolerance(const std::string& name) const {
    return std::max(kTolerance, kOwnShare * golden_["arrays"][name].value("own", 0.0));
  }
  // The distance to PyTorch's array, relative to its norm.
  [[nodiscard]] double apart(const std::string& name, const char* when) const {
    const nlohmann::json& array = golden_["arrays"][name];
    return distance(trainer_.parameter(name).as<float>(), array[when].get<std::vector<double>>()) /
           std::max(array["norm"].get<double>(), 1e-12);
  }
  // The largest distance, in tolerances.
  [[nodiscard]] double worst() const {
    double worst = 0.0;
    for (const auto& [name, array] : golden_["arrays"].items()) {
      worst = std::max(worst, apart(name, "after") / tolerance(name));
    }
    return worst;
  }

  [[nodiscard]] const nlohmann::json& golden() const { return golden_; }
  [[nodiscard]] const std::vector<double>& losses() const { return losses_; }
  [[nodiscard]] Trainer& trainer() { return trainer_; }

 private:
  const Recipe& recipe_;
  nlohmann::json golden_;
  int64_t steps_;
  data::Dataset dataset_;
  Trainer trainer_;
  std::vector<double> losses_;
};

class Twins : public testing::TestWithParam<std::string> {};

TEST_P(Twins, agree_with_PyTorch_after_some_steps) {
  Twin twin(GetParam());
  for (const auto& [name, array] : twin.golden()["arrays"].items()) {
    ASSERT_LE(twin.apart(name, "before"), kStartTolerance)
        << "training starts from other weights than recorded: run scripts/goldens_twins.py again";
  }
  twin.train();
  const auto losses = twin.golden()["loss"].get<std::vector<double>>();
  ASSERT_EQ(twin.losses().size(), losses.size());
  for (size_t i = 0; i < losses.size(); ++i) {
    EXPECT_NEAR(twin.losses()[i], losses[i], kTolerance * std::abs(losses[i])) << "step " << i;
  }
  EXPECT_LE(twin.worst(), 1.0);
}

// The check can fail: for a small change of any single array, and for a missing step.
TEST_P(Twins, are_told_apart_by_four_times_the_tolerance) {
  Twin twin(GetParam());
  twin.train();
  for (const auto& [name, array] : twin.golden()["arrays"].items()) {
    const Array right = twin.trainer().parameter(name);
    std::vector<float> wrong = right.floats();
    const double change = 4.0 * twin.tolerance(name) * array["norm"].get<double>() /
                          std::sqrt(static_cast<double>(wrong.size()));
    for (size_t i = 0; i < wrong.size(); ++i) {
      wrong[i] += static_cast<float>(i % 3 == 0 ? -change : change);
    }
    twin.trainer().set_parameter(name, wrong);
    EXPECT_GT(twin.apart(name, "after"), twin.tolerance(name)) << name;
    twin.trainer().set_parameter(name, right);
  }
  EXPECT_LE(twin.worst(), 1.0);
}

TEST_P(Twins, are_told_apart_by_a_step_left_out) {
  Twin twin(GetParam(), 1);
  twin.train();
  EXPECT_GT(twin.worst(), 1.0);
}

INSTANTIATE_TEST_SUITE_P(Recipes, Twins, testing::ValuesIn(recipes_with_goldens()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace thimble::twins_test
