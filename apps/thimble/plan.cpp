#include <fmt/format.h>
#include <thimble/instruction_model.h>
#include <thimble/thimble.h>

#include <memory>
#include <optional>

#include "adapt_options.h"
#include "choice.h"
#include "commands.h"
#include "console.h"
#include "cores.h"
#include "data_source.h"
#include "ini_model.h"
#include "io/atomic_file.h"
#include "io/html/training_report.h"
#include "model.h"
#include "options.h"
#include "plan/binding.h"
#include "plan/text_parts.h"
#include "train/state.h"
#include "training_setup.h"

namespace thimble::cli {
namespace {

using json = nlohmann::ordered_json;

struct PlanArguments {
  SetupOptions setup;
  DataOptions data;
  int64_t samples = 0;  // 0: those of the data
  bool json = false;
  bool explain = false;
  bool instructions = false;
  Core core = Core::cortex_m7;
  std::optional<std::string> report;
  std::string lora;
};

const char* to_string(Made made) {
  switch (made) {
    case Made::recomputed:
      return "recomputed";
    case Made::fetched:
      return "fetched";
    case Made::first:
      break;
  }
  return "first";
}

json buffers_of(const Plan& plan) {
  json buffers = json::array();
  for (const PlanBuffer& buffer : plan.buffers) {
    buffers.push_back({{"name", buffer.name},
                       {"role", buffer.role},
                       {"dtype", thimble::to_string(buffer.dtype)},
                       {"shape", buffer.shape.dims()},
                       {"bytes", buffer.bytes},
                       {"offset", buffer.offset},
                       {"birth", buffer.birth},
                       {"death", buffer.death},
                       {"made", to_string(buffer.made)}});
  }
  return buffers;
}

json strategies_of(const Plan& plan) {
  json strategies = json::array();
  for (const PlanStrategy& strategy : plan.strategies) {
    strategies.push_back({{"name", strategy.name},
                          {"detail", strategy.detail},
                          {"saved_bytes", strategy.saved_bytes},
                          {"left_bytes", strategy.left_bytes},
                          {"extra_flops", strategy.extra_flops},
                          {"extra_io_bytes", strategy.extra_io_bytes},
                          {"predicted_ms", strategy.predicted_ms},
                          {"lossless", strategy.lossless}});
  }
  return strategies;
}

json candidates_of(const Plan& plan) {
  json candidates = json::array();
  for (const PlanCandidate& candidate : plan.candidates) {
    candidates.push_back({{"decisions", candidate.decisions},
                          {"bytes", candidate.bytes},
                          {"step_ms", candidate.step_ms},
                          {"verdict", candidate.verdict}});
  }
  return candidates;
}

// The candidates in the order in which they were tried.
void print_candidates(const Plan& plan) {
  fmt::print("\n{} tried, bytes without constants:\n",
             plan::plural(static_cast<int64_t>(plan.candidates.size()), "candidate"));
  for (const PlanCandidate& candidate : plan.candidates) {
    fmt::print("  {:>10}  {:>10}  {}: {}\n", plan::short_bytes(candidate.bytes),
               plan::short_time(candidate.step_ms), candidate.verdict, candidate.decisions);
  }
}

json binding_of(const Plan& plan) {
  if (plan.steps.empty()) return {};
  const PlanStep& step = plan.steps[static_cast<size_t>(plan.peak_step)];
  return {{"step", plan.peak_step}, {"op", step.op}, {"layer", step.layer}};
}

// The samples for which the plan counts the input pipeline. data: empty where their number was
// given.
struct Reading {
  std::string data;
  int64_t samples = 0;
};

std::string text_of(const Reading& reading) {
  const std::string where = reading.data.empty() ? "" : " of " + reading.data;
  return fmt::format("reading is counted for {} training samples{}, none read ahead\n",
                     reading.samples, where);
}

json to_json(const Plan& plan, const Reading& reading) {
  // Null if not asked for or not known.
  const auto known = [](auto value) { return value > 0 ? json(value) : json(); };
  return {{"planned_peak_bytes", plan.planned_peak_bytes},
          {"lower_bound_bytes", plan.lower_bound_bytes},
          {"parameter_bytes", plan.parameter_bytes},
          {"read_only_bytes", plan.read_only_bytes},
          {"parameters", plan.parameters},
          {"trained_parameters", plan.trained_parameters},
          {"state_bytes", plan.state_bytes},
          {"constant_bytes", plan.constant_bytes},
          {"padding_bytes", plan.padding_bytes},
          {"saved_state_bytes", plan.saved_state_bytes},
          {"activation_peak_bytes", plan.activation_peak_bytes},
          {"workspace_bytes", plan.workspace_bytes},
          {"arena_bytes", plan.arena_bytes},
          {"in_file_bytes", plan.in_file_bytes},
          {"staging_bytes", plan.staging_bytes},
          {"swap_file_bytes", plan.swap_file_bytes},
          {"no_swap", plan.no_swap.empty() ? json() : json(plan.no_swap)},
          {"input_pipeline_bytes", plan.input_pipeline_bytes},
          {"reserved_bytes", plan.reserved_bytes},
          {"data", reading.data.empty() ? json() : json(reading.data)},
          {"samples", reading.samples},
          {"micro_batches", plan.micro_batches},
          {"fits", plan.fits},
          {"budget_bytes", known(plan.budget_bytes)},
          {"nearest_feasible_bytes", known(plan.nearest_feasible_bytes)},
          {"binding", binding_of(plan)},
          {"strategies", strategies_of(plan)},
          {"candidates", candidates_of(plan)},
          {"decisions", plan.decisions.empty() ? json() : json::parse(plan.decisions)},
          {"swap_read_bytes", plan.swap_read_bytes},
          {"swap_written_bytes", plan.swap_written_bytes},
          {"swap_busy_ms", plan.swap_busy_ms},
          {"swap_stall_ms", plan.swap_stall_ms},
          {"step_ms", known(plan.step_ms)},
          {"buffers", buffers_of(plan)}};
}

json instructions_of(const StepInstructions& step, Core core) {
  constexpr const char* kKinds[] = {
      "int8 tiles",           "int8 depthwise",        "int8 rows",       "int8 plain",
      "int8 plain depthwise", "mixed tiles",           "mixed depthwise", "mixed rows",
      "mixed plain",          "mixed plain depthwise", "f32 products",    "windows",
      "int8 elements",        "f32 elements",          "integer updates", "f32 updates"};
  json ops = json::array();
  for (const OpInstructions& one : step.ops) {
    json work = json::array();
    for (const OpInstructions::Work& part : one.work) {
      work.push_back({{"kind", kKinds[static_cast<size_t>(part.kind)]},
                      {"units", part.units},
                      {"results", part.results}});
    }
    ops.push_back({{"op", one.op},
                   {"layer", one.layer},
                   {"value", one.value},
                   {"work", std::move(work)},
                   {"instructions", one.instructions}});
  }
  return {{"core", name_of(core)}, {"total", step.total()}, {"ops", std::move(ops)}};
}

[[noreturn]] void refuse(const Plan& plan) {
  const std::string nearest =
      plan.nearest_feasible_bytes > 0
          ? fmt::format("Nearest budget that works: {} bytes, or {}", plan.nearest_feasible_bytes,
                        plan::smaller_ways(plan))
          : "To need less, " + plan::smaller_ways(plan);
  throw Error("memory budget",
              fmt::format("no plan of batch {} keeps {}; {}. {}{}", plan.batch,
                          format_bytes(plan.budget_bytes), plan::binding_text(plan),
                          plan::no_swap_text(plan), nearest));
}

int print_plan(const PlanArguments& options, const Graph& graph, const TrainerOptions& wanted,
               const std::string& name, const Reading& reading,
               std::optional<io::AtomicFile>& report) {
  // The text names the nearest budget only where the one asked for cannot be kept, and then the
  // plan has it anyway: looking for it takes as long as the plan.
  const Plan plan =
      options.json ? plan_training(graph, wanted) : train::State(graph.ir(), wanted).plan();
  if (report) {
    report->write(io::training_report_html(
        {.title = fmt::format("{}, batch {}", name, plan.batch), .plan = plan}));
    report->commit();
  }
  std::optional<StepInstructions> instructions;
  if (options.instructions) instructions = predict_instructions(graph, wanted, options.core);
  if (options.json) {
    json all = to_json(plan, reading);
    if (instructions) all["instructions"] = instructions_of(*instructions, options.core);
    print_json(all);
  } else {
    fmt::print("{}", plan.text());
    if (options.explain) print_candidates(plan);
    fmt::print("{}", text_of(reading));
    if (instructions) {
      fmt::print("about {:.2f} million instructions a step on {}, as exported C\n",
                 instructions->total() / 1e6, name_of(options.core));
    }
    if (report) fmt::print("written: {}\n", *options.report);
    std::fflush(stdout);
  }
  if (!plan.fits) refuse(plan);
  return kOk;
}

int run_plan(const PlanArguments& options) {
  Model model(options.setup.model);
  if (!options.lora.empty()) model.set_graph(with_adapters(model.graph(), options.lora));
  // A path that cannot be written fails before the plan is made; an existing file is kept.
  std::optional<io::AtomicFile> report;
  if (options.report) report.emplace(*options.report);
  // One step is enough: the schedule changes no buffer.
  TrainerOptions wanted = trainer_options(options.setup, model.settings(), 1);
  // Which channels are chosen changes no byte.
  if (wanted.scheme) wanted.scheme->choice = UpdateScheme::Choice::magnitude;
  Reading reading{"", options.samples};
  DataSource source(model, options.data);
  if (options.samples == 0 && source.has_none()) {
    reading.samples = default_samples(wanted.batch);
  }
  if (reading.samples > 0) {
    wanted = with_pipeline(std::move(wanted), reading.samples, model.graph());
  } else {
    const data::Dataset samples = source.train();
    reading = {source.name(), samples.size()};
    wanted = with_pipeline(std::move(wanted), samples);
  }
  return print_plan(options, model.graph(), wanted, model.name(), reading, report);
}

// Of what an INI file says. Its samples are read one by one.
int run_ini_plan(const PlanArguments& options) {
  const IniTraining training = read_ini_training(options.setup);
  std::optional<io::AtomicFile> report;
  if (options.report) report.emplace(*options.report);
  const Reading reading{
      "", options.samples > 0 ? options.samples : default_samples(training.options.batch)};
  const TrainerOptions wanted = with_pipeline(training.options, reading.samples, training.graph);
  return print_plan(options, training.graph, wanted, training.name, reading, report);
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  auto options = std::make_shared<PlanArguments>();
  CLI::App* command = app.add_subcommand(
      "plan",
      "Print the memory plan of a training step: the exact peak, what binds it, how it came to be");
  options->setup.add_to(*command);
  options->data.add_path_to(*command);
  options->data.add_limit_train_to(*command);
  command
      ->add_option("--samples", options->samples,
                   "training samples whose reading is counted, where the data are elsewhere "
                   "[those of the data; where a model file has none, 1000 in whole batches]")
      ->check(whole_number(1, kMostSamples))
      ->excludes("--data")
      ->excludes("--limit-train")
      ->type_name("N");
  command
      ->add_option("--report", options->report,
                   "write the plan as a page with its picture, too [no page]")
      ->type_name("FILE");
  add_lora_option(*command, options->lora)->excludes(command->get_option("--scheme"));
  command->add_flag("--explain", options->explain,
                    "print the plans that were tried as well, and which was chosen");
  command->add_flag("--instructions", options->instructions,
                    "predict the instructions of a step of C, as thimble export-c writes it");
  choice(*command, "--core", options->core, kCores,
         "the core that instructions are counted for [m7]");
  command->add_flag("--json", options->json, "print one JSON object with every buffer instead");
  command->footer(
      "Examples:\n  thimble plan vae --batch 8 --report plan.html\n  thimble plan lenet5 "
      "--optimizer sgd --memory-budget 2MiB");
  command->callback([&action, options, command] {
    action = [options, command] {
      if (!is_ini_model(options->setup.model)) return run_plan(*options);
      require_ini_options(*command);
      return run_ini_plan(*options);
    };
  });
}

}  // namespace thimble::cli
