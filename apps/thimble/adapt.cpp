#include <fmt/format.h>
#include <thimble/adapt.h>
#include <thimble/model_file.h>

#include <charconv>
#include <filesystem>
#include <memory>

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

void AdaptArguments::add_to(CLI::App& command) {
  command
      .add_option("--loss", adapt.loss,
                  "what training lowers, a function of the output and a label: "
                  "softmax_cross_entropy, mse ... [the model's own]")
      ->type_name("NAME");
  command
      .add_option("--label", adapt.label,
                  "name of the label in the data: a class for each row, or numbers, as the loss "
                  "takes them [label]")
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
      .add_option("--freeze", adapt.freeze,
                  "do not train the parameters whose names match the pattern, such as 'conv*'; may "
                  "be given more than once [none]")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  command
      .add_option("--trainable", adapt.trainable,
                  "train those that match, after --freeze; int8 weights and their biases are "
                  "frozen without it; may be given more than once [none]")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  command.add_flag("--f32-inputs", adapt.f32_inputs,
                   "inputs of int8 take f32, which the model makes int8 itself");
  command.add_option("--seed", adapt.seed, "seed of new weights [0]")
      ->check(whole_number(0))
      ->type_name("N");
}

bool AdaptArguments::any() const {
  return !adapt.loss.empty() || !adapt.metrics.empty() || !head.empty() || !adapt.freeze.empty() ||
         !adapt.trainable.empty() || adapt.f32_inputs;
}

Graph AdaptArguments::applied(const Graph& graph) const {
  AdaptOptions all = adapt;
  all.classes = classes_of(head);
  return from_command_line([&] { return thimble::adapt(graph, all); });
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
      "    --trainable '*' --f32-inputs -o mine.safetensors");
  command->callback([&action, options] { action = [options] { return run_adapt(*options); }; });
}

}  // namespace thimble::cli
