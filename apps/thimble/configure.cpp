// Training in two stages: configure writes what a device needs, micro the runtime for it, and merge
// brings its weights back.
#include <fmt/format.h>
#include <thimble/thimble.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "choice.h"
#include "commands.h"
#include "configured.h"
#include "console.h"
#include "io/atomic_file.h"
#include "options.h"

namespace thimble::cli {
namespace {

constexpr size_t kMostListBytes = size_t{1} << 20;
constexpr size_t kMostWeightBytes = (size_t{1} << 31) - 1;
constexpr std::pair<const char*, tflite::WofLayout> kLayouts[] = {
    {"landed", tflite::WofLayout::landed}, {"proposed", tflite::WofLayout::proposed}};

struct ConfigureArguments {
  std::string model;
  std::string budget;
  std::string runtime;
  std::string out;
  ConfigureOptions options;
  bool json = false;
};

void write_file_of(const std::string& path, const std::string& text) {
  io::AtomicFile file(path);
  file.write(text);
  file.commit();
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

// The file of the gradients and updates of optimizer i.
std::string gradient_name(size_t i) {
  return i == 0 ? "gradients.circle" : fmt::format("gradients_{}.circle", i + 1);
}

// An earlier run with more optimizers may have left some.
void remove_gradients_from(size_t first, const std::string& folder) {
  std::error_code ignored;
  for (size_t i = first; std::filesystem::remove(folder + "/" + gradient_name(i), ignored); ++i) {
  }
}

nlohmann::ordered_json choices(const ConfigureArguments& arguments, const tflite::File& file,
                               const Configured& made) {
  const ConfigureOptions& options = arguments.options;
  nlohmann::ordered_json trained = nlohmann::ordered_json::array();
  for (const TrainedTensor& tensor : made.trained) {
    trained.push_back({{"parameter", tensor.parameter},
                       {"tensor", tensor.tensor},
                       {"name", file.tensor(tensor.tensor).name},
                       {"shape", tensor.shape.dims()},
                       {"channels", tensor.shape.rank() == 0 ? 1 : tensor.shape[0]},
                       {"bytes", tensor.bytes}});
  }
  nlohmann::ordered_json budget;
  if (options.memory_budget > 0) budget = options.memory_budget;
  nlohmann::ordered_json gradients = nlohmann::ordered_json::array();
  for (size_t i = 0; i < options.optimizers.size(); ++i) {
    gradients.push_back({{"file", gradient_name(i)},
                         {"optimizer", options.optimizers[i]},
                         {"batch", options.batches[0]}});
  }
  return {{"model", file.name()},
          {"loss", options.loss},
          {"label", options.label},
          {"metrics", options.metrics},
          {"optimizers", options.optimizers},
          {"batches", options.batches},
          {"gradients", gradients},
          {"precision", "f32"},
          {"trained", trained},
          {"frozen", made.frozen},
          {"recomputed", made.recomputed},
          {"memory_budget", budget},
          {"memory_bytes", made.memory_bytes()},
          {"arena_bytes", made.program.arena_bytes},
          {"state_bytes", made.program.state_bytes},
          {"runtime_bytes", emit::kMicroRuntimeBytes},
          {"model_bytes", made.model.size()},
          {"weights_bytes", made.weights.size()},
          {"program_bytes", made.program.bytes.size()},
          {"kernels", made.program.kernels}};
}

// Kernels that the runtime on the device was built with.
void check_runtime(const std::string& list, const std::vector<std::string>& kernels) {
  const std::string text = io::read_file(list, kMostListBytes);
  const bool is_list = std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '/' || c == '\n';
  });
  if (!is_list) {
    throw Error(list, "is no list of kernels; thimble micro writes one, kernels.txt");
  }
  const std::vector<std::string> known = split(text, '\n');
  for (const std::string& kernel : kernels) {
    if (std::find(known.begin(), known.end(), kernel) != known.end()) continue;
    throw Error(list, fmt::format("the runtime lacks the kernel {}; build it with this program's "
                                  "kernels (thimble micro), or train other layers",
                                  kernel));
  }
}

// Without those that were before.
template <class Choice>
void keep_once(std::vector<Choice>& choices) {
  std::vector<Choice> kept;
  for (const Choice& choice : choices) {
    if (std::find(kept.begin(), kept.end(), choice) == kept.end()) kept.push_back(choice);
  }
  choices = std::move(kept);
}

int run_configure(const ConfigureArguments& given) {
  ConfigureArguments arguments = given;
  ConfigureOptions& options = arguments.options;
  keep_once(options.optimizers);
  keep_once(options.batches);
  const std::vector<std::string>& patterns = options.trainable;
  const bool is_auto = std::find(patterns.begin(), patterns.end(), "auto") != patterns.end();
  if (is_auto && patterns.size() > 1) {
    throw UsageError(Error("--trainable", "auto chooses all that is trained; give it alone"));
  }
  const tflite::File file = tflite::File::read(arguments.model);
  if (!arguments.budget.empty()) {
    options.memory_budget = from_command_line([&] { return parse_bytes(arguments.budget); });
  }
  if (is_auto) options.trainable = chosen_parameters(file, options);
  const Configured made = configured(file, options);
  if (!arguments.runtime.empty()) check_runtime(arguments.runtime, made.program.kernels);
  io::make_directories(arguments.out);
  const std::string model = file.is_circle() ? "/model.circle" : "/model.tflite";
  const nlohmann::ordered_json json = choices(arguments, file, made);
  write_file_of(arguments.out + model, made.model);
  write_file_of(arguments.out + "/weights.wof", made.weights);
  write_file_of(arguments.out + "/program.bin", made.program.bytes);
  for (size_t i = 0; i < made.gradients.size(); ++i) {
    write_file_of(arguments.out + "/" + gradient_name(i), made.gradients[i]);
  }
  remove_gradients_from(made.gradients.size(), arguments.out);
  write_file_of(arguments.out + "/choices.json", json.dump(2) + "\n");
  if (arguments.json) {
    print_json(json);
    return kOk;
  }
  for (const TrainedTensor& tensor : made.trained) {
    fmt::print("trained  {} (tensor {}), {}\n", tensor.parameter, tensor.tensor,
               format_bytes(tensor.bytes));
  }
  fmt::print("memory   {}: arena {}, trained weights and optimizer state {}, runtime {}\n",
             format_bytes(made.memory_bytes()), format_bytes(made.program.arena_bytes),
             format_bytes(made.program.state_bytes), format_bytes(emit::kMicroRuntimeBytes));
  fmt::print("files    model {}, weights {}, program {} with {} kernels, in {}\n",
             format_bytes(static_cast<int64_t>(made.model.size())),
             format_bytes(static_cast<int64_t>(made.weights.size())),
             format_bytes(static_cast<int64_t>(made.program.bytes.size())),
             made.program.kernels.size(), arguments.out);
  return kOk;
}

struct MicroArguments {
  std::vector<std::string> folders;
  std::string out;
};

int run_micro(const MicroArguments& arguments) {
  std::vector<std::string> kernels;
  for (const std::string& folder : arguments.folders) {
    const auto json = nlohmann::json::parse(io::read_file(folder + "/choices.json", kMostListBytes),
                                            nullptr, false);
    if (!json.is_object() || !json.contains("kernels") || !json["kernels"].is_array()) {
      throw Error(folder + "/choices.json", "expected what thimble configure writes");
    }
    for (const auto& kernel : json["kernels"]) {
      if (!kernel.is_string()) throw Error(folder + "/choices.json", "kernels: expected names");
      kernels.push_back(kernel.get<std::string>());
    }
  }
  std::sort(kernels.begin(), kernels.end());
  kernels.erase(std::unique(kernels.begin(), kernels.end()), kernels.end());
  const auto files = emit::micro_sources(kernels, "thimble " THIMBLE_VERSION);
  io::make_directories(arguments.out);
  for (const auto& [name, text] : files) write_file_of(arguments.out + "/" + name, text);
  fmt::print("thimble-micro with {} kernels, C99 in {}\n", kernels.size(), arguments.out);
  return kOk;
}

struct MergeArguments {
  std::string model;
  std::string weights;
  std::string out;
};

int run_merge(const MergeArguments& arguments) {
  const tflite::File model = tflite::File::read(arguments.model);
  const bool is_circle = model.is_circle();
  if (std::filesystem::path(arguments.out).extension() == (is_circle ? ".tflite" : ".circle")) {
    throw UsageError(Error(
        "--out",
        fmt::format("{} is a {} file and stays one; name the new one {}", arguments.model,
                    is_circle ? "circle" : "TensorFlow Lite", is_circle ? ".circle" : ".tflite")));
  }
  const std::string bytes = io::read_file(arguments.weights, kMostWeightBytes);
  const auto contents = tflite::read_wof(arguments.weights, std::as_bytes(std::span(bytes)), model);
  write_file_of(arguments.out, tflite::with_contents(model, contents));
  fmt::print("{} tensors of {} in {}\n", contents.size(), arguments.weights, arguments.out);
  return kOk;
}

}  // namespace

void add_configure(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ConfigureArguments>();
  ConfigureOptions& options = arguments->options;
  CLI::App* command = app.add_subcommand(
      "configure", "Write what a device needs to train a TensorFlow Lite or circle model");
  command->add_option("model", arguments->model, "a float model, .tflite or .circle")
      ->required()
      ->type_name("MODEL");
  command
      ->add_option(
          "--memory-budget", arguments->budget,
          "most memory that the runtime may take on the device beside its stack: bytes, or "
          "a number with KiB or MiB; values are recomputed to keep it [none]")
      ->type_name("SIZE");
  command
      ->add_option("--loss", options.loss,
                   "function of the model's output and a label, such as softmax_cross_entropy or "
                   "mse")
      ->required()
      ->type_name("NAME");
  command->add_option("--label", options.label, "name of the label [label]")->type_name("NAME");
  command
      ->add_option("--metric", options.metrics,
                   "a further function of both to report; may be given more than once "
                   "[none]")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      ->add_option("--optimizer", options.optimizers,
                   "sgd, momentum (sgd with 0.9), adam, rmsprop, or another one with settings, as "
                   "for train; given more than once, the device may choose")
      ->required()
      ->type_name("NAME[:SETTINGS]")
      ->allow_extra_args(false);
  command
      ->add_option("--batch", options.batches,
                   "samples in one step; given more than once, the device may choose [1]")
      ->check(whole_number(1, 4096))
      ->type_name("N")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--trainable", options.trainable,
          "patterns of the parameters that are trained, with commas between them, or given one "
          "by one; auto: from the last layer to the first all of a layer where the budget holds "
          "it, else its bias [all]")
      ->delimiter(',')
      ->type_name("PATTERNS|auto")
      ->allow_extra_args(false);
  choice(*command, "--wof-layout", options.layout, kLayouts,
         "what the weights' table says of tensors that it has no buffer for: landed 0, as "
         "onert-micro reads it; proposed -1 [landed]");
  command
      ->add_option("--runtime", arguments->runtime,
                   "kernels.txt of the runtime that the device has: what it lacks is refused here "
                   "[a runtime that is built for this program]")
      ->type_name("FILE");
  command->add_option("-o,--out", arguments->out, "folder of the files")
      ->required()
      ->type_name("DIR");
  command->add_flag("--json", arguments->json, "print one JSON object instead");
  command->footer(
      "Example:\n  thimble configure lenet5.circle --memory-budget 64KiB --trainable auto \\\n"
      "    --loss softmax_cross_entropy --label digit --metric accuracy --optimizer sgd \\\n"
      "    --batch 4 --out two_stages");
  command->callback([&action, arguments] {
    action = [arguments] {
      ConfigureOptions& chosen = arguments->options;
      if (chosen.batches.empty()) chosen.batches = {1};
      if (chosen.trainable.empty()) chosen.trainable = {"*"};
      return run_configure(*arguments);
    };
  });
}

void add_micro(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<MicroArguments>();
  CLI::App* command = app.add_subcommand(
      "micro", "Write thimble-micro, the runtime that trains on a device, as C99 source");
  command
      ->add_option("folders", arguments->folders,
                   "what thimble configure wrote: the runtime gets the kernels of all of them")
      ->required()
      ->type_name("DIR...");
  command->add_option("-o,--out", arguments->out, "folder of the sources")
      ->required()
      ->type_name("DIR");
  command->footer("Example:\n  thimble micro two_stages --out runtime\n  make -C runtime");
  command->callback(
      [&action, arguments] { action = [arguments] { return run_micro(*arguments); }; });
}

void add_merge(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<MergeArguments>();
  CLI::App* command = app.add_subcommand(
      "merge", "Write a TensorFlow Lite or circle model with the weights of a wof file");
  command->add_option("model", arguments->model, "the model, with these weights or without")
      ->required()
      ->type_name("MODEL");
  command->add_option("weights", arguments->weights, "the weights, .wof of either layout")
      ->required()
      ->type_name("WEIGHTS");
  command->add_option("-o,--out", arguments->out, "the file to write")
      ->required()
      ->type_name("FILE");
  command->footer(
      "Example:\n  thimble merge two_stages/model.circle improved.wof -o improved.circle");
  command->callback(
      [&action, arguments] { action = [arguments] { return run_merge(*arguments); }; });
}

}  // namespace thimble::cli
