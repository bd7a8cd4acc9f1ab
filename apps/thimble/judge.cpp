#include "judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include "console.h"
#include "eval/inception_score.h"
#include "io/safetensors/safetensors.h"

namespace thimble::cli {
namespace {

// Numbers of training and of test images that measure how far images of one class are apart.
constexpr int64_t kCompared = 2000;
constexpr int64_t kMeasured = 500;

}  // namespace

Judge::Judge(const Recipe& judge, const data::Dataset& train, uint64_t seed, int threads)
    : train_(train),
      trainer_(judge.build(), {.optimizer = judge.optimizer(),
                               .batch = judge.batch,
                               .seed = seed,
                               .threads = threads}) {}

Judge::Judge(const Recipe& recipe, const std::string& checkpoint, const data::Dataset& train,
             int threads)
    : Judge(find_recipe(recipe.judge), train, 0, threads) {
  trainer_.load_weights(checkpoint);
}

std::optional<Judge> Judge::trained(const Recipe& recipe, const data::Dataset& train, uint64_t seed,
                                    int threads) {
  Judge judge(find_recipe(recipe.judge), train, seed, threads);
  const FitResult result =
      judge.trainer_.fit(train, {.epochs = recipe.judge_epochs, .stop = interrupted});
  if (result.end == FitResult::End::stopped) return std::nullopt;
  return judge;
}

std::string Judge::doubt(const Recipe& recipe, const std::string& checkpoint,
                         int64_t train_images) {
  const io::Safetensors file =
      io::Safetensors::read(checkpoint, [](std::string_view) { return false; });
  const auto found = file.metadata().find("step");
  if (found == file.metadata().end()) return {};
  const int64_t steps = std::strtoll(found->second.c_str(), nullptr, 10);
  const int64_t batch = find_recipe(recipe.judge).batch;
  const int64_t wanted = recipe.judge_epochs * ((train_images + batch - 1) / batch);
  if (steps >= wanted) return {};
  return fmt::format(
      "the classifier {} was trained for {} steps, not the {} of all {} training "
      "images: its scores mean little",
      checkpoint, steps, wanted, train_images);
}

Verdict Judge::judge(const Samples& samples, const data::Dataset& real) {
  const Shape image = samples.image();
  const int64_t pixels = image.elements();
  const int64_t count = samples.images.shape()[0];
  const data::Dataset drawn = data::in_memory({{"image", image}}, {samples.images});
  const std::vector<float> logits = trainer_.predict(drawn, "logits").floats();
  const int64_t classes = static_cast<int64_t>(logits.size()) / count;
  const std::vector<float> real_logits = trainer_.predict(real.take(count), "logits").floats();
  const std::vector<float> real_images = eval::first_images(real, std::max(count, kMeasured));
  const auto first = [&](int64_t images) {
    const auto size = static_cast<size_t>(images * pixels);
    return std::span(real_images).first(std::min(real_images.size(), size));
  };
  const eval::Neighbourhood near(eval::first_images(train_, kCompared), first(kMeasured), pixels);
  return {.inception_score = eval::inception_score(logits, classes),
          .generated =
              eval::recognition(samples.images.as<float>(), logits, classes, near, samples.classes),
          .real = eval::recognition(first(count), real_logits, classes, near)};
}

std::string to_text(const Verdict& verdict) {
  return fmt::format(
      "{} of {} recognised by the classifier (real ones: {} of {}), {:.1f} kinds (real ones: "
      "{:.1f})",
      verdict.generated.recognised, verdict.generated.images, verdict.real.recognised,
      verdict.real.images, verdict.generated.kinds, verdict.real.kinds);
}

nlohmann::ordered_json to_json(const Verdict& verdict) {
  return {
      {"images", verdict.generated.images},         {"recognised", verdict.generated.recognised},
      {"kinds", verdict.generated.kinds},           {"real_images", verdict.real.images},
      {"real_recognised", verdict.real.recognised}, {"real_kinds", verdict.real.kinds}};
}

}  // namespace thimble::cli
