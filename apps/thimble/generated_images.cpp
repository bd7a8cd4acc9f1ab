#include "generated_images.h"

#include "console.h"
#include "exec/memory.h"
#include "io/atomic_file.h"
#include "io/png/png.h"
#include "train/inception_score.h"

namespace thimble::cli {
namespace {

constexpr int64_t kColumns = 10;
constexpr int64_t kSampleRows = 10;
constexpr int64_t kScoredSamples = 2000;
constexpr int64_t kClassifierEpochs = 3;  // a LeNet-5 sees more than 96 % of the digits right then
constexpr int64_t kPixels = 28 * 28;
constexpr int64_t kClasses = 10;

void write_png(const std::string& path, const std::string& png) {
  io::AtomicFile file(path);
  file.write(png);
  file.commit();
}

// Rows of originals, each above the row of its reconstructions.
std::string reconstructions_png(const GenerationTask& task) {
  constexpr int64_t kRows = 5;
  const int64_t columns = std::min(kColumns, task.test.size());
  const int64_t rows = std::min(kRows, task.test.size() / columns);
  const data::Dataset shown = task.test.take(rows * columns);
  const std::vector<float> rebuilt = task.trainer.predict(shown, "reconstruction");
  std::vector<float> original(static_cast<size_t>(kPixels));
  std::vector<float> grid;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t begin = row * columns;
    const int64_t end = begin + columns;
    for (int64_t i = begin; i < end; ++i) {
      int32_t digit = 0;
      void* const fields[] = {original.data(), &digit};
      shown.read(i, fields);
      grid.insert(grid.end(), original.begin(), original.end());
    }
    grid.insert(grid.end(), rebuilt.begin() + begin * kPixels, rebuilt.begin() + end * kPixels);
  }
  return io::png_grid(grid, {.columns = columns});
}

// Trains the judge on the same digits.
std::optional<double> score(const GenerationTask& task, const std::vector<float>& images) {
  const Recipe& judge = find_recipe("lenet5");
  Trainer trainer(judge.build(), {.optimizer = judge.optimizer(),
                                  .batch = judge.batch,
                                  .seed = task.seed,
                                  .threads = task.trainer.options().threads});
  const FitResult result =
      trainer.fit(task.train, {.epochs = kClassifierEpochs, .stop = interrupted});
  if (result.end == FitResult::End::stopped) return std::nullopt;
  trainer.save(task.out + "/classifier.safetensors");
  const data::Dataset drawn = data::in_memory({{"image", {28, 28, 1}}}, {images});
  return train::inception_score(trainer.predict(drawn, "logits"), kClasses);
}

}  // namespace

std::vector<float> draw_samples(const Recipe& recipe, const std::string& checkpoint, int64_t count,
                                uint64_t seed) {
  Predictor decoder(recipe.decoder(), checkpoint, 32);
  const Shape shape{count, recipe.latent};
  std::vector<float> z(static_cast<size_t>(shape.elements()));
  exec::fill_initial(init::normal(0.0, 1.0), "z", seed, shape, z.data());
  return decoder.run({{"z", z}}).at("image");
}

std::optional<double> add_generated_images(const GenerationTask& task, io::TrainingReport& report) {
  const std::string reconstructions = reconstructions_png(task);
  const std::vector<float> samples =
      draw_samples(task.recipe, task.out + "/checkpoint.safetensors", kScoredSamples, task.seed);
  const std::span<const float> shown(samples.data(), kColumns * kSampleRows * kPixels);
  const std::string sample_grid = io::png_grid(shown, {.columns = kColumns});
  write_png(task.out + "/reconstructions.png", reconstructions);
  write_png(task.out + "/samples.png", sample_grid);
  report.images.push_back({"Reconstructions",
                           "Rows of test images, each above what the model made "
                           "of it.",
                           reconstructions});
  report.images.push_back({"Samples", "New images drawn from random codes.", sample_grid});
  note("training a classifier on the same digits to score the samples");
  return score(task, samples);
}

}  // namespace thimble::cli
