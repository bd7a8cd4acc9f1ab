// The recipes compared with PyTorch: from equal weights, some steps on equal batches and noise lead
// to equal weights. scripts/goldens_twins.py recorded PyTorch's side and says how.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "data/random.h"

namespace thimble::twins_test {
namespace {

// The measure is how far PyTorch's own float32 is from its double precision after the same steps
// from the same weights on the same samples, in the same array, or in all arrays together, because
// the distance of a few numbers may be small by chance. thimble adds up in another order, and in
// another one for every vector width. Op by op its rounding errors are those of PyTorch or smaller,
// but for gradients of matrix products, where they are 1.4 to 2 times as large
// (bench/pytorch/rounding.py; src/simd/gemm.cpp says why), and for 3 x 3 convolutions, where they
// are two to three times as large (src/simd/winograd.h). After the steps, the distance of an array
// is up to 4.4 times the measure, that of a loss 3.9 times: for a large recipe the measure is one
// or two runs of PyTorch, which may be nearer to its double precision by chance. The projections of
// a golden estimate a distance within about a quarter.
constexpr double kShare = 5.0;
// The loss is an f32 number, rounded by up to half a unit in its last place.
const double kLossRounding = std::ldexp(1.0, -24);
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

// The recipe's optimizer, with settings changed: "adamw:weight_decay=0.011".
Optimizer changed(const Optimizer& optimizer, const std::string& settings) {
  return settings.empty() ? optimizer : Optimizer::parse(settings, optimizer);
}

// A recipe at one of the seeds of its golden.
class Twin {
 public:
  Twin(const std::string& name, size_t seed, const std::string& settings = {})
      : recipe_(find_recipe(name)),
        golden_(golden_of(name)),
        at_seed_(golden_["seeds"][seed]),
        steps_(golden_["steps"].get<int64_t>()),
        dataset_(
            recipe_.data("", data::Split::train).take(steps_ * golden_["batch"].get<int64_t>())),
        trainer_(recipe_.build(), options(settings)) {}

  // Trains until so many steps are done.
  void train_to(int64_t steps) {
    FitOptions fit;
    fit.on_step = [this](const StepReport& step) { losses_.push_back(step.loss); };
    fit.stop = [&] { return static_cast<int64_t>(losses_.size()) >= steps; };
    static_cast<void>(trainer_.fit(dataset_, fit));
  }

  // Relative to the norm of an array.
  [[nodiscard]] double tolerance(const std::string& name) const {
    const double own = at_seed_["arrays"][name]["own"].get<double>();
    return kShare * std::max(own, at_seed_["own"].get<double>());
  }
  // The distance of an array to PyTorch's, relative to its norm.
  [[nodiscard]] double apart(const std::string& name, const std::vector<float>& values,
                             const char* when) const {
    const nlohmann::json& array = at_seed_["arrays"][name];
    return distance(values, array[when].get<std::vector<double>>()) / array["norm"].get<double>();
  }
  [[nodiscard]] double apart(const std::string& name, const char* when) const {
    return apart(name, trainer_.parameter(name).floats(), when);
  }
  // The largest distance after all steps, in tolerances.
  [[nodiscard]] double worst() const {
    double worst = 0.0;
    for (const std::string& name : arrays()) {
      worst = std::max(worst, apart(name, "after") / tolerance(name));
    }
    return worst;
  }
  // The largest difference of a loss, in tolerances. Chance decides at which step rounding first
  // makes a difference, so the most that PyTorch's precisions are apart at any step counts.
  [[nodiscard]] double worst_loss() const {
    double apart = 0.0;
    double own = 0.0;
    for (size_t i = 0; i < losses_.size(); ++i) {
      const double loss = at_seed_["loss"][i].get<double>();
      apart = std::max(apart, std::abs(losses_[i] - loss));
      own = std::max({own, at_seed_["loss_own"][i].get<double>(), kLossRounding * std::abs(loss)});
    }
    return apart / (kShare * own);
  }

  [[nodiscard]] int64_t steps() const { return steps_; }
  [[nodiscard]] std::vector<std::string> arrays() const {
    std::vector<std::string> names;
    for (const auto& [name, array] : at_seed_["arrays"].items()) names.push_back(name);
    return names;
  }
  [[nodiscard]] std::vector<float> values(const std::string& name) const {
    return trainer_.parameter(name).floats();
  }
  [[nodiscard]] double norm(const std::string& name) const {
    return at_seed_["arrays"][name]["norm"].get<double>();
  }

 private:
  [[nodiscard]] TrainerOptions options(const std::string& settings) const {
    const double rate = recipe_.optimizer().learning_rate() * golden_["lr_scale"].get<double>();
    const auto epsilon = golden_["epsilon"].get<double>();
    Optimizer optimizer = changed(recipe_.optimizer(), settings).with_learning_rate(rate);
    if (epsilon > 0.0) {
      const std::string text = optimizer.name() + ":epsilon=" + std::to_string(epsilon);
      optimizer = changed(optimizer, text);
    }
    TrainerOptions options{.optimizer = optimizer,
                           .batch = golden_["batch"].get<int64_t>(),
                           .seed = at_seed_["seed"].get<uint64_t>(),
                           .threads = 2};
    if (recipe_.schedule != nullptr) {
      options.schedule = recipe_.schedule(rate, recipe_.epochs * steps_);
    }
    return options;
  }

  const Recipe& recipe_;
  nlohmann::json golden_;
  nlohmann::json at_seed_;
  int64_t steps_;
  data::Dataset dataset_;
  Trainer trainer_;
  std::vector<double> losses_;
};

struct Case {
  std::string recipe;
  size_t seed;  // its place in the golden
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.recipe << ", seed " << c.seed; }

std::vector<Case> cases() {
  std::vector<Case> cases;
  for (const std::string& recipe : recipes_with_goldens()) {
    const size_t seeds = golden_of(recipe)["seeds"].size();
    for (size_t seed = 0; seed < seeds; ++seed) cases.push_back({recipe, seed});
  }
  return cases;
}

class Twins : public testing::TestWithParam<Case> {};

TEST_P(Twins, agree_with_PyTorch_as_its_float32_does) {
  Twin twin(GetParam().recipe, GetParam().seed);
  for (const std::string& name : twin.arrays()) {
    ASSERT_LE(twin.apart(name, "before"), kStartTolerance)
        << "training starts from other weights than recorded: run scripts/goldens_twins.py again";
  }
  twin.train_to(twin.steps() - 1);
  EXPECT_GT(twin.worst(), 1.0) << "a step left out is not seen";
  twin.train_to(twin.steps());
  RecordProperty("apart_in_tolerances", std::to_string(twin.worst()));
  RecordProperty("loss_apart_in_tolerances", std::to_string(twin.worst_loss()));
  EXPECT_LE(twin.worst_loss(), 1.0);
  for (const std::string& name : twin.arrays()) {
    EXPECT_LE(twin.apart(name, "after"), twin.tolerance(name)) << name;
    // The check can fail: it finds a small change of any single array.
    std::vector<float> wrong = twin.values(name);
    const double change =
        4.0 * twin.tolerance(name) * twin.norm(name) / std::sqrt(static_cast<double>(wrong.size()));
    for (size_t i = 0; i < wrong.size(); ++i) {
      wrong[i] += static_cast<float>(i % 3 == 0 ? -change : change);
    }
    EXPECT_GT(twin.apart(name, wrong, "after"), twin.tolerance(name)) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Recipes, Twins, testing::ValuesIn(cases()), [](const auto& info) {
  return info.param.recipe + "_seed_" + std::to_string(info.param.seed);
});

TEST(twins, are_all_recipes_at_five_seeds) {
  EXPECT_EQ(recipes_with_goldens().size(), recipes().size());
  EXPECT_EQ(cases().size(), 5 * recipes().size());
}

struct WrongSetting {
  std::string recipe;
  std::string name;
  std::string value;
  bool every_seed = false;
};

void PrintTo(const WrongSetting& c, std::ostream* out) {
  *out << c.recipe << ", " << c.name << "=" << c.value;
}

class WrongTwins : public testing::TestWithParam<WrongSetting> {};

// Slightly wrong settings of an optimizer are found: at every seed, of the large recipes, whose
// steps take long, at the first.
TEST_P(WrongTwins, are_found) {
  const WrongSetting& wrong = GetParam();
  const std::string settings =
      find_recipe(wrong.recipe).optimizer().name() + ":" + wrong.name + "=" + wrong.value;
  const size_t seeds = wrong.every_seed ? golden_of(wrong.recipe)["seeds"].size() : 1;
  for (size_t seed = 0; seed < seeds; ++seed) {
    Twin twin(wrong.recipe, seed, settings);
    twin.train_to(twin.steps());
    EXPECT_GT(twin.worst(), 1.0) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, WrongTwins,
                         testing::Values(WrongSetting{"vae", "weight_decay", "0.011", true},
                                         WrongSetting{"vae", "beta2", "0.998", true},
                                         WrongSetting{"mlp", "beta2", "0.998", true},
                                         WrongSetting{"lenet5", "beta1", "0.89", true},
                                         WrongSetting{"lenet5", "epsilon", "2e-8", true},
                                         WrongSetting{"lstm", "beta2", "0.998"},
                                         WrongSetting{"gpt", "weight_decay", "0.11"},
                                         WrongSetting{"mobilenetv2", "beta1", "0.87"},
                                         WrongSetting{"resnet18", "momentum", "0.87"},
                                         WrongSetting{"unet_ddpm", "beta2", "0.998"}),
                         [](const auto& info) {
                           return info.param.recipe + "_" + info.param.name;
                         });

}  // namespace
}  // namespace thimble::twins_test
