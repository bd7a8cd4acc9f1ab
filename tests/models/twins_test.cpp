// The recipes beside PyTorch: from equal weights, on equal batches and noise, 20 steps lead to
// equal weights. PyTorch's side is recorded by scripts/goldens_twins.py, which says how.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "data/random.h"

namespace thimble {
namespace {

// Of the norm of each array, against PyTorch in double precision. float32 leaves about 1e-5.
constexpr double kTolerance = 1e-4;
// The first weights are the same numbers, but for the last bits of a platform's logarithm.
constexpr double kStartTolerance = 1e-6;
constexpr uint64_t kDigitsSeed = 1;

const nlohmann::json& goldens() {
  static const nlohmann::json json = [] {
    std::ifstream file(THIMBLE_SOURCE_DIR "/tests/models/twins_golden.json");
    return nlohmann::json::parse(file);
  }();
  return json;
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
        golden_(goldens()["recipes"][name]),
        steps_(goldens()["steps"].get<int64_t>() - skipped_steps),
        dataset_(data::digits(goldens()["samples"].get<int64_t>(), kDigitsSeed)),
        trainer_(recipe_.build(), options()) {}

  [[nodiscard]] TrainerOptions options() const {
    TrainerOptions options{.optimizer = recipe_.optimizer(),
                           .batch = recipe_.batch,
                           .seed = golden_["seed"].get<uint64_t>(),
                           .threads = 2};
    const int64_t batches = (dataset_.size() + recipe_.batch - 1) / recipe_.batch;
    if (recipe_.schedule != nullptr) {
      options.schedule =
          recipe_.schedule(options.optimizer.learning_rate(), recipe_.epochs * batches);
    }
    return options;
  }

  void train() {
    FitOptions fit;
    fit.on_step = [this](const StepReport& step) { losses_.push_back(step.loss); };
    fit.stop = [this] { return static_cast<int64_t>(losses_.size()) >= steps_; };
    static_cast<void>(trainer_.fit(dataset_, fit));
  }

  // The largest distance to PyTorch's arrays, in norms of each.
  [[nodiscard]] double worst(const char* when) const {
    double worst = 0.0;
    for (const auto& [name, array] : golden_["arrays"].items()) {
      const double apart =
          distance(trainer_.parameter(name), array[when].get<std::vector<double>>());
      worst = std::max(worst, apart / std::max(array["norm"].get<double>(), 1e-12));
    }
    return worst;
  }

  [[nodiscard]] const nlohmann::json& golden() const { return golden_; }
  [[nodiscard]] const std::vector<double>& losses() const { return losses_; }
  [[nodiscard]] Trainer& trainer() { return trainer_; }

 private:
  const Recipe& recipe_;
  const nlohmann::json& golden_;
  int64_t steps_;
  data::Dataset dataset_;
  Trainer trainer_;
  std::vector<double> losses_;
};

class Twins : public testing::TestWithParam<const char*> {};

TEST_P(Twins, agree_with_PyTorch_after_20_steps) {
  Twin twin(GetParam());
  ASSERT_LE(twin.worst("before"), kStartTolerance)
      << "training starts from other weights than recorded: run scripts/goldens_twins.py again";
  twin.train();
  const auto losses = twin.golden()["loss"].get<std::vector<double>>();
  ASSERT_EQ(twin.losses().size(), losses.size());
  for (size_t i = 0; i < losses.size(); ++i) {
    EXPECT_NEAR(twin.losses()[i], losses[i], kTolerance * std::abs(losses[i])) << "step " << i;
  }
  EXPECT_LE(twin.worst("after"), kTolerance);
}

// The check can fail: on a small change of any one array, and on a step left out.
TEST_P(Twins, are_told_apart_by_twice_the_tolerance) {
  Twin twin(GetParam());
  twin.train();
  for (const auto& [name, array] : twin.golden()["arrays"].items()) {
    const std::vector<float> right = twin.trainer().parameter(name);
    std::vector<float> wrong = right;
    const double change = 2.0 * kTolerance * array["norm"].get<double>() /
                          std::sqrt(static_cast<double>(wrong.size()));
    for (size_t i = 0; i < wrong.size(); ++i) {
      wrong[i] += static_cast<float>(i % 3 == 0 ? -change : change);
    }
    twin.trainer().set_parameter(name, wrong);
    EXPECT_GT(twin.worst("after"), kTolerance) << name;
    twin.trainer().set_parameter(name, right);
  }
  EXPECT_LE(twin.worst("after"), kTolerance);
}

TEST_P(Twins, are_told_apart_by_a_step_left_out) {
  Twin twin(GetParam(), 1);
  twin.train();
  EXPECT_GT(twin.worst("after"), kTolerance);
}

INSTANTIATE_TEST_SUITE_P(Recipes, Twins, testing::Values("vae", "lenet5", "mlp"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace thimble
