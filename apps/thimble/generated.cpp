#include "generated.h"

#include <fmt/format.h>

#include <algorithm>

#include "console.h"
#include "io/atomic_file.h"
#include "io/png/png.h"
#include "ir/graph.h"

namespace thimble::cli {
namespace {

constexpr int64_t kColumns = 10;
constexpr int64_t kShown = 100;
constexpr int64_t kTextBytes = 800;
constexpr const char* kReconstruction = "reconstruction";

bool reconstructs(const Graph& graph) {
  const auto& outputs = graph.ir().outputs;
  return std::any_of(outputs.begin(), outputs.end(),
                     [](const auto& output) { return output.first == kReconstruction; });
}

// Rows of originals, each above the row of its reconstructions.
std::string reconstructions_png(const GenerationTask& task) {
  constexpr int64_t kRows = 5;
  const int64_t columns = std::min(kColumns, task.test.size());
  const int64_t rows = std::min(kRows, task.test.size() / columns);
  const data::Dataset shown = task.test.take(rows * columns);
  const std::vector<float> rebuilt = task.trainer.predict(shown, kReconstruction).floats();
  const Shape& image = shown.fields()[0].shape;
  const int64_t pixels = image.elements();
  const std::vector<float> original = eval::first_images(shown, shown.size());
  std::vector<float> grid;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t begin = row * columns;
    const int64_t end = begin + columns;
    grid.insert(grid.end(), original.begin() + begin * pixels, original.begin() + end * pixels);
    grid.insert(grid.end(), rebuilt.begin() + begin * pixels, rebuilt.begin() + end * pixels);
  }
  const Shape shape{2 * rows * columns, image[0], image[1], image[2]};
  return picture({std::move(grid), shape}, shape[0], columns);
}

void add_picture(const GenerationTask& task, const char* file, io::ReportImage image,
                 io::TrainingReport& report, Generated& generated) {
  write_file(task.out + "/" + file, image.png);
  generated.files += fmt::format(", {}", file);
  report.images.push_back(std::move(image));
}

}  // namespace

Samples draw(const Recipe& recipe, const std::string& checkpoint, SampleOptions options) {
  ProgressBar bar;
  options.stop = interrupted;
  options.on_progress = [&](int64_t done, int64_t total) {
    if (bar.due()) bar.show(done, total, "sampling", "");
  };
  Samples samples = recipe.sample(checkpoint, options);
  bar.clear();
  return samples;
}

std::string picture(const Array& images, int64_t count, int64_t columns) {
  const Shape& shape = images.shape();
  const int64_t pixels = shape[1] * shape[2] * shape[3];
  const auto shown = static_cast<size_t>(std::min(shape[0], count) * pixels);
  return io::png_grid(
      images.as<float>().first(shown),
      {.height = shape[1], .width = shape[2], .channels = shape[3], .columns = columns});
}

void write_file(const std::string& path, const std::string& bytes) {
  io::AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

Generated generate(const GenerationTask& task, io::TrainingReport& report) {
  Generated generated;
  if (reconstructs(task.recipe.build())) {
    add_picture(task, "reconstructions.png",
                {"Reconstructions", "Rows of test images, each above what the model made of it.",
                 reconstructions_png(task)},
                report, generated);
  }
  if (task.trainer.options().memory_budget > 0) {
    note(
        fmt::format("samples take memory beside the training's, which has a budget: draw them "
                    "with thimble sample {} --checkpoint {}/checkpoint.safetensors",
                    task.recipe.name, task.out));
    return generated;
  }
  const int threads = task.trainer.options().threads;
  const bool images = task.recipe.makes == SampleKind::images;
  SampleOptions options{.count = images ? std::max(kShown, task.recipe.judged) : 1,
                        .seed = task.seed,
                        .threads = threads};
  if (!images) options.length = kTextBytes;
  const Samples samples = draw(task.recipe, task.out + "/checkpoint.safetensors", options);
  if (interrupted()) return generated;
  if (!images) {
    generated.text = samples.texts.at(0);
    report.texts.push_back({"Sample", "A text drawn byte by byte.", generated.text});
    write_file(task.out + "/samples.txt", generated.text + "\n");
    generated.files += ", samples.txt";
    return generated;
  }
  add_picture(task, "samples.png",
              {"Samples", "New images drawn from random numbers.",
               picture(samples.images, kShown, kColumns)},
              report, generated);
  if (task.recipe.judge == nullptr) return generated;
  note("training a classifier on the same data to score the samples");
  if (task.limited) {
    note(fmt::format("it sees {} training images alone (--limit-train): its scores mean little",
                     task.train.size()));
  }
  std::optional<Judge> judge = Judge::trained(task.recipe, task.train, task.seed, threads);
  if (!judge) return generated;
  judge->save(task.out + "/classifier.safetensors");
  generated.files += ", classifier.safetensors";
  generated.verdict = judge->judge(samples, task.test);
  return generated;
}

}  // namespace thimble::cli
