#include "judge.h"

#include <fmt/format.h>

#include "console.h"
#include "train/inception_score.h"

namespace thimble::cli {
namespace {

constexpr int64_t kEpochs = 3;  // a LeNet-5 sees more than 96 % of the digits right then

}  // namespace

Judge::Judge(const Recipe& judge, uint64_t seed, int threads)
    : trainer_(judge.build(), {.optimizer = judge.optimizer(),
                               .batch = judge.batch,
                               .seed = seed,
                               .threads = threads}) {}

Judge::Judge(const Recipe& recipe, const std::string& checkpoint, int threads)
    : Judge(find_recipe(recipe.judge), 0, threads) {
  trainer_.load_weights(checkpoint);
}

std::optional<Judge> Judge::trained(const Recipe& recipe, const data::Dataset& train, uint64_t seed,
                                    int threads) {
  Judge judge(find_recipe(recipe.judge), seed, threads);
  const FitResult result = judge.trainer_.fit(train, {.epochs = kEpochs, .stop = interrupted});
  if (result.end == FitResult::End::stopped) return std::nullopt;
  return judge;
}

Verdict Judge::judge(const Samples& samples, const data::Dataset& real) {
  const int64_t count = static_cast<int64_t>(samples.images.size()) / samples.image.elements();
  const data::Dataset drawn = data::in_memory({{"image", samples.image}}, {samples.images});
  const std::vector<float> logits = trainer_.predict(drawn, "logits");
  const int64_t classes = static_cast<int64_t>(logits.size()) / count;
  const std::vector<float> real_logits = trainer_.predict(real.take(count), "logits");
  return {.inception_score = train::inception_score(logits, classes),
          .generated = train::recognition(logits, classes),
          .real = train::recognition(real_logits, classes)};
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
