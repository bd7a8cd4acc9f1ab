#include <fmt/format.h>
#include <thimble/adapt.h>
#include <thimble/lora.h>
#include <thimble/model_file.h>

#include <charconv>
#include <filesystem>
#include <memory>
#include <utility>

#include "adapt_options.h"
#include "commands.h"
#include "console.h"
#include "ir/sizes.h"
#include "ir/summary.h"
#include "model.h"
#include "options.h"

namespace thimble::cli {
namespace {

constexpr std::string_view kReplace = "replace:";

// The number behind "replace:", or 0.
int64_t classes_of(std::string_view head) {
  if (!head.starts_with(kReplace)) return 0;
  head.remove_prefix(kReplace.size());
  int64_t classes = 0;
  const auto [end, error] = std::from_chars(head.data(), head.data() + head.size(), classes);
  const bool whole = error == std::errc() && end == head.data() + head.size();
  return whole && classes <= ir::kMostElements ? classes : 0;
}

// "rank=8,alpha=16,targets=q_proj,v_proj": what has no = goes on with the targets. Throws Error.
LoraOptions lora_of(const std::string& text) {
  LoraOptions lora;
  std::string_view rest = text;
  bool in_targets = false;
  const auto fail = [&](std::string_view part) {
    throw Error("--lora", fmt::format("expected rank=N,alpha=X,targets=NAME,NAME ..., got \"{}\" "
                                      "in \"{}\"",
                                      part, text));
  };
  const auto parse = [&](std::string_view part, auto& to) {
    const char* const end = part.data() + part.size();
    const auto [at, error] = std::from_chars(part.data(), end, to);
    if (error != std::errc() || at != end) fail(part);
  };
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    std::string_view part = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const size_t equals = part.find('=');
    if (equals != std::string_view::npos) {
      const std::string_view name = part.substr(0, equals);
      part.remove_prefix(equals + 1);
      in_targets = name == "targets";
      if (name == "rank") {
        parse(part, lora.rank);
      } else if (name == "alpha") {
        parse(part, lora.alpha);
      } else if (!in_targets) {
        fail(name);
      }
      if (!in_targets) continue;
    }
    if (!in_targets || part.empty()) fail(part);
    lora.targets.emplace_back(part);
  }
  return lora;
}

// Trains the parameters that have another shape than before: those of a new head.
void train_new_head(const Graph& before, Graph& after) {
  for (const ir::ValueData& data : before.ir().values) {
    if (data.producer >= 0 || data.role != ir::Role::parameter) continue;
    const Value now = after.ir().find_source(data.name);
    if (now && now.shape() != data.type.shape && now.dtype() == DType::f32) {
      after.unfreeze(data.name);
    }
  }
}

struct AdaptCommand {
  std::string model;
  std::string out;
  AdaptArguments changes;
  bool json = false;
};

int run_adapt(const AdaptCommand& options) {
  const Model model(options.model);
  if (!options.changes.any()) {
    throw UsageError(Error("adapt", "nothing to change is named; see thimble adapt --help"));
  }
  Graph graph;
  graph.ir() = model.graph().ir();
  if (!model.file().empty()) load_weights(graph, model.file());
  const Graph made = options.changes.applied(graph);
  save_model(made, options.out, options.changes.adapt.seed);
  int64_t trained = 0;
  int64_t frozen = 0;
  for (const ir::LayerSummary& layer : ir::summarize(made.ir())) {
    trained += layer.parameters;
    frozen += layer.frozen_parameters;
  }
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(options.out));
  if (options.json) {
    print_json({{"file", options.out},
                {"trained_parameters", trained},
                {"frozen_parameters", frozen},
                {"bytes", bytes}});
    return kOk;
  }
  fmt::print("{} of {} parameters are trained, in {}, {}\n", trained, trained + frozen, options.out,
             format_bytes(bytes));
  return kOk;
}

}  // namespace

CLI::Option* add_lora_option(CLI::App& command, std::string& settings) {
  return command
      .add_option("--lora", settings,
                  "freeze all and train LoRA adapters beside the layers of these names, such as "
                  "rank=8,alpha=16,targets=q_proj,v_proj; * stands for any characters [none]")
      ->type_name("SETTINGS");
}

Graph with_adapters(const Graph& graph, const std::string& settings) {
  return from_command_line([&] { return add_lora(graph, lora_of(settings)); });
}

void AdaptArguments::add_to(CLI::App& command) {
  CLI::Option* const loss =
      command
          .add_option("--loss", adapt.loss,
                      "what training lowers, a function of the output and a label: "
                      "softmax_cross_entropy, mse ... [the model's own]")
          ->type_name("NAME");
  command
      .add_option("--label", adapt.label,
                  "name of the label in the data: a class for each row, or numbers, as the loss "
                  "takes them [label]")
      ->needs(loss)
      ->type_name("NAME");
  command
      .add_option("--metric", adapt.metrics,
                  "what is reported beside the loss, a function of the same: accuracy ...; may be "
                  "given more than once [none]")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      .add_option("--output", adapt.output, "the output that loss and metrics judge [the only one]")
      ->type_name("NAME");
  command
      .add_option("--head", head,
                  "new weights, for N results, for the last layer that has any [unchanged]")
      ->check(CLI::Validator(
          [](const std::string& text) {
            if (classes_of(text) > 0) return std::string();
            return fmt::format("expected replace:N with a whole number N of 1 or more, got \"{}\"",
                               text);
          },
          ""))
      ->type_name("replace:N");
  command
      .add_option(
          "--freeze", adapt.freeze,
          "do not train the parameters whose names match a pattern, such as 'conv*'; several "
          "with commas between them, or given one by one [none]")
      ->delimiter(',')
      ->type_name("PATTERNS")
      ->allow_extra_args(false);
  command
      .add_option("--trainable", adapt.trainable,
                  "train those that match, after --freeze; int8 weights and their biases are "
                  "frozen without it; several as for --freeze [none]")
      ->delimiter(',')
      ->type_name("PATTERNS")
      ->allow_extra_args(false);
  add_lora_option(command, lora_text);
  command
      .add_option("--lora-from", lora_folder,
                  "the same with adapters that the PEFT library or export-lora wrote [none]")
      ->type_name("DIR");
  command
      .add_option(
          "--base", base,
          "freeze matrices of weights and store them as bf16, f16, i8 or i4, which are made "
          "f32 where they are used; they lie in a mapped file and cost training no memory "
          "[as they are]")
      ->check(CLI::IsMember({"bf16", "f16", "i8", "i4"}))
      ->type_name("TYPE");
  command.add_flag("--merge-lora", merges_lora,
                   "add what the model's adapters compute to its weights, first of all");
  command.add_flag("--f32-inputs", adapt.f32_inputs,
                   "inputs of int8 take f32, which the model makes int8 itself");
  command.add_option("--seed", adapt.seed, "seed of new weights [0]")
      ->check(whole_number(0))
      ->type_name("N");
}

bool AdaptArguments::any() const {
  return !adapt.loss.empty() || !adapt.metrics.empty() || !adapt.output.empty() || !head.empty() ||
         !adapt.freeze.empty() || !adapt.trainable.empty() || adapt.f32_inputs ||
         !lora_text.empty() || !lora_folder.empty() || merges_lora || !base.empty();
}

Graph AdaptArguments::applied(const Graph& graph) const {
  AdaptOptions all = adapt;
  all.classes = classes_of(head);
  const auto stored = [this](Graph made) {
    for (const DType dtype : {DType::bf16, DType::f16, DType::i8, DType::i4}) {
      if (base == to_string(dtype)) return store_weights(made, dtype);
    }
    return made;
  };
  if (lora_text.empty() && lora_folder.empty()) {
    return from_command_line([&] {
      return stored(merges_lora ? thimble::adapt(merge_lora(graph), all)
                                : thimble::adapt(graph, all));
    });
  }
  if (!lora_text.empty() && !lora_folder.empty()) {
    throw UsageError(Error("--lora", "adapters are new or from a folder, not both"));
  }
  // Adapters freeze all other parameters, and then the choice of the user counts.
  const std::vector<std::string> freeze = std::exchange(all.freeze, {});
  const std::vector<std::string> trainable = std::exchange(all.trainable, {});
  Graph merged;
  if (merges_lora) merged = from_command_line([&] { return merge_lora(graph); });
  const Graph& from = merges_lora ? merged : graph;
  const Graph adapted = from_command_line([&] { return stored(thimble::adapt(from, all)); });
  // What is wrong with a folder is no error of the command line.
  Graph made =
      lora_folder.empty() ? with_adapters(adapted, lora_text) : load_lora(adapted, lora_folder);
  return from_command_line([&] {
    train_new_head(from, made);
    for (const std::string& pattern : freeze) made.freeze(pattern);
    for (const std::string& pattern : trainable) made.unfreeze(pattern);
    return std::move(made);
  });
}

void add_adapt(CLI::App& app, Action& action) {
  auto options = std::make_shared<AdaptCommand>();
  CLI::App* command = app.add_subcommand(
      "adapt", "Write a model file for a training of one's own: loss, classes, what is trained");
  add_model(*command, options->model);
  add_model_out(*command, options->out);
  options->changes.add_to(*command);
  command->add_flag("--json", options->json, "print one JSON object instead");
  command->footer(
      "Examples:\n"
      "  thimble adapt out/lenet5/checkpoint.safetensors --head replace:5 --freeze 'conv*' \\\n"
      "    -o mine.safetensors\n"
      "  thimble adapt mcunet.safetensors --loss softmax_cross_entropy --metric accuracy \\\n"
      "    --trainable '*' --f32-inputs -o mine.safetensors\n"
      "  thimble adapt llama.safetensors --lora rank=8,alpha=16,targets=q_proj,v_proj \\\n"
      "    -o mine.safetensors");
  command->callback([&action, options] { action = [options] { return run_adapt(*options); }; });
}

}  // namespace thimble::cli
