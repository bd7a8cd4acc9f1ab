#include <fmt/format.h>
#include <thimble/thimble.h>

#include <memory>

#include "commands.h"
#include "console.h"
#include "generated_images.h"
#include "io/atomic_file.h"
#include "io/png/png.h"
#include "options.h"

namespace thimble::cli {
namespace {

struct Options {
  std::string recipe;
  std::string checkpoint;
  std::string out;
  int64_t count = 100;
  int64_t columns = 10;
  uint64_t seed = 0;
  bool json = false;
};

int run(const Options& options) {
  const Recipe& recipe = chosen_recipe(options.recipe);
  if (recipe.decoder == nullptr) {
    throw UsageError(
        Error("sample", std::string("the recipe ") + recipe.name + " draws no images; take vae"));
  }
  const std::string checkpoint = checkpoint_of(options.checkpoint, recipe);
  const std::vector<float> images = draw_samples(recipe, checkpoint, options.count, options.seed);
  io::AtomicFile file(options.out);
  file.write(io::png_grid(images, {.columns = options.columns}));
  file.commit();
  if (options.json) {
    print_json({{"recipe", recipe.name}, {"count", options.count}, {"file", options.out}});
  } else {
    fmt::print("{} images in {}\n", options.count, options.out);
  }
  return kOk;
}

}  // namespace

void add_sample(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  options->out = "samples.png";
  CLI::App* command = app.add_subcommand("sample", "Draw new images with a trained recipe");
  add_recipe(*command, options->recipe);
  add_checkpoint(*command, options->checkpoint);
  command->add_option("--out", options->out, "picture to write [samples.png]")
      ->type_name("FILE.png");
  command->add_option("--count", options->count, "images [100]")
      ->check(whole_number(1, 10000))
      ->type_name("N");
  command->add_option("--columns", options->columns, "images in a row [10]")
      ->check(whole_number(1, 1000))
      ->type_name("N");
  command->add_option("--seed", options->seed, "seed of the random codes [0]")
      ->check(whole_number(0))
      ->type_name("N");
  command->add_flag("--json", options->json, "print one JSON object instead");
  command->footer(
      "Example:\n  thimble sample vae --count 25 --columns 5 --seed 7 --out digits.png");
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace thimble::cli
