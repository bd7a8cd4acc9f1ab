#include <fmt/format.h>
#include <thimble/thimble.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "commands.h"
#include "console.h"
#include "data_source.h"
#include "generated.h"
#include "io/base64.h"
#include "judge.h"
#include "model.h"
#include "options.h"
#include "recipes/sample_options.h"
#include "text_printer.h"

namespace thimble::cli {
namespace {

struct SampleArguments {
  std::string model;
  std::string checkpoint;
  std::string out;
  std::string classifier;
  DataOptions data;
  std::optional<int64_t> count;  // 100 images, 1 text
  SampleOptions samples;
  int64_t columns = 10;
  bool json = false;
};

// Rejects options that have no meaning for the recipe or invalid values.
void check(const CLI::App& command, const Recipe& recipe, const SampleOptions& samples) {
  from_command_line([&] {
    models::check_sample_options(recipe, samples, models::Spelling::flags);
    for (const char* name : {"--columns", "--classifier"}) {
      if (recipe.makes == SampleKind::images || command.count(name) == 0) continue;
      throw Error("sample", fmt::format("{} takes no {}; it makes no images. Recipes make {}",
                                        recipe.name, name, models::recipes_that_sample()));
    }
  });
}

std::string counted(int64_t count, const char* one, const char* more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

// Scores samples by the given classifier, or the one that train wrote beside the checkpoint;
// returns none if there is neither.
std::optional<Verdict> judged(const SampleArguments& options, const Model& model,
                              const std::string& checkpoint, const Samples& samples) {
  const Recipe& recipe = *model.recipe();
  if (recipe.judge == nullptr) return std::nullopt;
  std::string file = options.classifier;
  if (file.empty()) {
    file = std::filesystem::path(checkpoint).replace_filename("classifier.safetensors");
    if (!std::filesystem::exists(file)) {
      note(fmt::format("the images are not judged: there is no {}", file));
      return std::nullopt;
    }
  }
  DataSource source(model, options.data);
  const data::Dataset train = source.train();
  if (const std::string doubt = Judge::doubt(recipe, file, train.size()); !doubt.empty()) {
    note(doubt);
  }
  Judge judge(recipe, file, train, options.samples.threads);
  return judge.judge(samples, source.test());
}

int report_images(const SampleArguments& options, const Model& model, const std::string& checkpoint,
                  const Samples& samples) {
  const std::string out = options.out.empty() ? "samples.png" : options.out;
  const int64_t count = options.samples.count;
  write_file(out, picture(samples.images, count, options.columns));
  const std::optional<Verdict> verdict = judged(options, model, checkpoint, samples);
  if (options.json) {
    print_json({{"recipe", model.name()},
                {"count", count},
                {"file", out},
                {"recognition", verdict ? to_json(*verdict) : nlohmann::ordered_json()}});
    return kOk;
  }
  fmt::print("{} in {}\n", counted(count, "image", "images"), out);
  if (verdict) fmt::print("{}\n", to_text(*verdict));
  return kOk;
}

// Texts go to standard output while they are made, unless they are wanted elsewhere: to a terminal
// as it can show them, to anything else byte for byte, as into a file.
Samples print_texts(const Recipe& recipe, const std::string& checkpoint, SampleOptions options) {
  TextPrinter printer(stdout);
  int64_t last = 0;
  options.stop = interrupted;
  options.on_text = [&](int64_t number, std::string_view piece) {
    if (number != last) {
      printer.end();
      printer.add("\n");
    }
    last = number;
    printer.add(piece);
  };
  Samples samples = recipe.sample(checkpoint, options);
  printer.end();
  return samples;
}

// Adds the texts as readable UTF-8 and as bytes, which may not be valid UTF-8.
void add_texts(nlohmann::ordered_json& json, const std::vector<std::string>& texts) {
  json["texts"] = texts;
  json["texts_base64"] = nlohmann::ordered_json::array();
  for (const std::string& text : texts) json["texts_base64"].push_back(io::base64(text));
}

int report_texts(const SampleArguments& options, const Recipe& recipe, const Samples& samples) {
  if (!options.out.empty()) {
    std::string all;
    for (const std::string& text : samples.texts) all += (all.empty() ? "" : "\n") + text + "\n";
    write_file(options.out, all);
  }
  if (options.json) {
    nlohmann::ordered_json json{{"recipe", recipe.name}, {"count", options.samples.count}};
    if (options.out.empty()) {
      add_texts(json, samples.texts);
    } else {
      json["file"] = options.out;
    }
    print_json(json);
  } else if (!options.out.empty()) {
    fmt::print("{} in {}\n", counted(options.samples.count, "text", "texts"), options.out);
  }
  return kOk;
}

// Only recipes know how to sample. Throws UsageError for other graphs.
const Recipe& recipe_of(const Model& model) {
  if (model.recipe() != nullptr) return *model.recipe();
  throw UsageError(Error("sample", fmt::format("the graph of {} is that of no recipe; only recipes "
                                               "say how samples are drawn. To run it forward, use "
                                               "thimble predict",
                                               model.file())));
}

int run_sample(SampleArguments options, const CLI::App& command) {
  const Model model(options.model);
  const Recipe& recipe = recipe_of(model);
  const bool images = recipe.makes == SampleKind::images;
  options.samples.count = options.count.value_or(images ? 100 : 1);
  check(command, recipe, options.samples);
  const std::string checkpoint = model.weights(options.checkpoint);
  catch_interrupt();
  const bool print = !images && !options.json && options.out.empty();
  const Samples samples = print ? print_texts(recipe, checkpoint, options.samples)
                                : draw(recipe, checkpoint, options.samples);
  if (interrupted()) {
    note(print ? "stopped" : "stopped; nothing is written");
    return kStopped;
  }
  return images ? report_images(options, model, checkpoint, samples)
                : report_texts(options, recipe, samples);
}

void add_image_options(CLI::App& command, SampleArguments& options) {
  command.add_option("--columns", options.columns, "of images: how many in a row [10]")
      ->check(whole_number(1, 1000))
      ->type_name("N");
  command
      .add_option("--steps", options.samples.steps,
                  "of diffusion: steps from noise to image [the recipe's]")
      ->check(whole_number())
      ->type_name("N");
  command
      .add_option(
          "--classifier", options.classifier,
          "of images: checkpoint of the classifier that judges them [classifier.safetensors "
          "beside the weights, where there is one]")
      ->type_name("FILE");
}

void add_text_options(CLI::App& command, SampleOptions& samples) {
  command.add_option("--prompt", samples.prompt, "of texts: how each begins [empty]")
      ->type_name("TEXT");
  command.add_option("--length", samples.length, "of texts: bytes to add [256]")
      ->check(whole_number())
      ->type_name("N");
  command
      .add_option("--temperature", samples.temperature,
                  "of texts: below 1 likelier ones, 0 always the likeliest [1]")
      ->check(any_number())
      ->type_name("X");
  command.add_option("--top-k", samples.top_k, "of texts: take the likeliest K bytes alone [all]")
      ->check(whole_number())
      ->type_name("K");
}

}  // namespace

void add_sample(CLI::App& app, Action& action) {
  auto options = std::make_shared<SampleArguments>();
  CLI::App* command =
      app.add_subcommand("sample", "Draw new images, or write new texts, with a trained recipe");
  add_model(*command, options->model,
            [](const Recipe& recipe) { return recipe.makes != SampleKind::none; });
  add_checkpoint(*command, options->checkpoint);
  command
      ->add_option(
          "--out", options->out,
          "picture to write [samples.png], or file of texts [standard output, byte for byte "
          "unless that is a terminal]")
      ->type_name("FILE");
  command->add_option("--count", options->count, "how many [100 images, 1 text]")
      ->check(whole_number())
      ->type_name("N");
  command->add_option("--seed", options->samples.seed, "seed of the random numbers [0]")
      ->check(whole_number(0))
      ->type_name("N");
  add_image_options(*command, *options);
  add_text_options(*command, options->samples);
  options->data.add_to(*command, [](const Recipe& recipe) { return recipe.judge != nullptr; });
  add_threads(*command, options->samples.threads);
  command->add_flag("--json", options->json, "print one JSON object instead");
  command->footer(
      "Examples:\n  thimble sample vae --count 25 --columns 5 --seed 7 --out digits.png\n"
      "  thimble sample gpt --prompt \"Say boat, \" --length 400 --temperature 0.8 --top-k 40");
  command->callback([&action, options, command] {
    action = [options, command] { return run_sample(*options, *command); };
  });
}

}  // namespace thimble::cli
