#include <fmt/format.h>
#include <thimble/thimble.h>

#include <memory>
#include <optional>
#include <utility>

#include "c_compiler.h"
#include "commands.h"
#include "console.h"
#include "exported.h"
#include "io/atomic_file.h"
#include "model.h"
#include "options.h"
#include "training_setup.h"

namespace thimble::cli {
namespace {

struct ExportArguments {
  SetupOptions setup;
  std::string weights;
  std::string target = "c99";
  std::string out;
  bool predict_only = false;
  int test_steps = 3;
  bool json = false;
};

void check_settings(const TrainerOptions& options) {
  const auto refuse = [](const char* option, const char* why) {
    throw UsageError(Error(option, why));
  };
  if (options.accumulate != 1) refuse("--accumulate", "is not written as C; leave it out");
  if (options.micro_batches != 1) {
    refuse("--micro-batches", "are not written as C; take a smaller --batch");
  }
  if (options.precision != DType::f32) {
    refuse("--precision", "of 16 bits has no C kernels; leave it out");
  }
  if (options.saved_activations != DType::f32) {
    refuse("--saved-activations", "of 16 bits have no C kernels; leave it out");
  }
}

int64_t ram_bytes(const emit::Sizes& sizes) { return sizes.arena_bytes + sizes.state_bytes; }

void write_files(const emit::Sources& sources, const std::string& folder) {
  io::make_directories(folder);
  for (const auto& [name, text] : sources.files) {
    io::AtomicFile file(fmt::format("{}/{}", folder, name));
    file.write(text);
    file.commit();
  }
}

std::unique_ptr<Exported> exported_of(const ExportArguments& arguments, const Model& model,
                                      const TrainerOptions& options) {
  Graph graph = model.graph_with_weights(arguments.weights);
  if (arguments.predict_only) {
    return std::make_unique<Exported>(std::move(graph), options.batch, model.name(),
                                      arguments.target);
  }
  return std::make_unique<Exported>(graph, options, model.name(), arguments.target);
}

TrainerOptions options_of(const ExportArguments& arguments, const Model& model) {
  const Recipe& recipe = model.settings();
  const int64_t samples = default_samples(batch_of(arguments.setup, recipe));
  TrainerOptions options = trainer_options(
      arguments.setup, recipe, updates_of(arguments.setup, recipe, recipe.epochs, samples));
  check_settings(options);
  options.threads = 1;
  options.swap = Swap::never;
  options.input_pipeline_bytes = 1;  // samples are the caller's
  return options;
}

[[noreturn]] void refuse_budget(int64_t budget, int64_t least) {
  throw Error("memory_budget",
              fmt::format("{} of RAM cannot be kept; {} work. Take a smaller batch, an optimizer "
                          "with less state, or freeze parameters",
                          format_bytes(budget), format_bytes(least)));
}

void report_json(const ExportArguments& arguments, const Model& model, int64_t batch,
                 const emit::Sources& sources, const std::optional<CompiledSize>& compiled) {
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const auto& [name, text] : sources.files) files.push_back(name);
  nlohmann::ordered_json stack;  // null: not measured
  nlohmann::ordered_json code;
  if (compiled && compiled->stack_bytes) stack = *compiled->stack_bytes;
  if (compiled) code = compiled->code_bytes;
  const emit::Sizes& sizes = sources.sizes;
  const int64_t stack_bytes = compiled ? compiled->stack_bytes.value_or(0) : 0;
  print_json({{"recipe", model.name()},
              {"folder", arguments.out},
              {"target", arguments.target},
              {"batch", batch},
              {"ram_bytes", ram_bytes(sizes) + stack_bytes},
              {"arena_bytes", sizes.arena_bytes},
              {"state_bytes", sizes.state_bytes},
              {"stack_bytes", stack},
              {"flash_bytes", sizes.constant_bytes + (compiled ? compiled->code_bytes : 0)},
              {"constant_bytes", sizes.constant_bytes},
              {"code_bytes", code},
              {"kernels", sources.kernels},
              {"files", std::move(files)}});
}

void report(const ExportArguments& arguments, const Model& model, int64_t batch,
            const emit::Sources& sources, const std::optional<CompiledSize>& compiled) {
  if (arguments.json) return report_json(arguments, model, batch, sources, compiled);
  const emit::Sizes& sizes = sources.sizes;
  const bool has_stack = compiled && compiled->stack_bytes;
  fmt::print("{} as C99 in {}, batch {}\n", model.name(), arguments.out, batch);
  fmt::print("RAM    {}: arena {}, parameters and optimizer state {}, stack {}\n",
             format_bytes(ram_bytes(sizes) + (has_stack ? *compiled->stack_bytes : 0)),
             format_bytes(sizes.arena_bytes), format_bytes(sizes.state_bytes),
             has_stack ? format_bytes(*compiled->stack_bytes) + " by gcc for this machine"
                       : "not measured");
  fmt::print("flash  {} of constants, frozen parameters and first values; code {}\n",
             format_bytes(sizes.constant_bytes),
             compiled ? format_bytes(compiled->code_bytes) + " by gcc -O2 for this machine"
                      : "not measured");
  fmt::print("{} kernels; `make -C {} test` compares the C code with the engine, bit for bit\n",
             sources.kernels.size(), arguments.out);
}

int export_c(const ExportArguments& arguments) {
  const Model model(arguments.setup.model);
  const TrainerOptions wanted = options_of(arguments, model);
  TrainerOptions options = with_chosen_channels(
      wanted, model.graph_with_weights(arguments.weights), "", []() -> data::Dataset {
        throw UsageError(Error("--scheme",
                               "chooses channels by contribution, which needs data; list them, or "
                               "leave out \"choice\""));
      });
  const int64_t batch = options.batch;
  const int64_t budget = std::exchange(options.memory_budget, 0);
  auto exported = exported_of(arguments, model, options);
  emit::Sources sources = exported->sources();
  if (budget > 0 && ram_bytes(sources.sizes) > budget) {
    const int64_t free_bytes = ram_bytes(sources.sizes);
    if (arguments.predict_only) refuse_budget(budget, free_bytes);
    // What the planner counts beside the device's RAM: flash, and tables that C code does not have.
    const int64_t beside = exported->counted_bytes() - free_bytes;
    const auto nearest = [&](int64_t bytes) {
      options.memory_budget = bytes;
      return nearest_exported_budget(model.graph_with_weights(arguments.weights), options);
    };
    const auto compile = [&](int64_t bytes) {
      options.memory_budget = bytes;
      exported = exported_of(arguments, model, options);
      sources = exported->sources();
    };
    exported.reset();
    // A plan that recomputes has other bytes beside it: the least one may keep the budget, too.
    int64_t least = nearest(budget + beside);
    compile(least > 0 ? least : budget + beside);
    if (least == 0 && ram_bytes(sources.sizes) > budget) {
      least = nearest(1);
      exported.reset();
      compile(least);
    }
    if (ram_bytes(sources.sizes) > budget) refuse_budget(budget, ram_bytes(sources.sizes));
  }
  exported->finish(sources, arguments.test_steps);
  write_files(sources, arguments.out);
  report(arguments, model, batch, sources, compiled_size(arguments.out));
  return kOk;
}

}  // namespace

void add_export_c(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ExportArguments>();
  CLI::App* command =
      app.add_subcommand("export-c", "Write a model's training step and predictions as C99 source");
  arguments->setup.add_to(*command);
  // Sources run the reference kernels on one thread, and a device has no swap file.
  for (const char* const none : {"--threads", "--reference-kernels", "--swap", "--swap-dir"}) {
    command->remove_option(command->get_option(none));
  }
  command
      ->add_option("--weights", arguments->weights,
                   "checkpoint or model file whose weights the training begins with [those of the "
                   "model file; of a recipe new weights]")
      ->type_name("FILE");
  command->add_flag("--predict-only", arguments->predict_only,
                    "write predictions alone, with all parameters in flash");
  command
      ->add_option(
          "--target", arguments->target,
          "for which processors; c99: all; cortex-m-dsp: Cortex-M4, M7 and others with the "
          "DSP extension, which int8 convolutions use; helium: Cortex-M55 and others with the "
          "vectors of MVE; riscv: RV32 and RV64, the sources of c99. Results are the same [c99]")
      ->check(
          CLI::Validator(CLI::IsMember({"c99", "cortex-m-dsp", "helium", "riscv"})).description(""))
      ->type_name("TARGET");
  command->add_option("-o,--out", arguments->out, "folder of the sources")
      ->required()
      ->type_name("DIR");
  command
      ->add_option("--test-steps", arguments->test_steps,
                   "training steps of the test that compares the C code with the engine [3]")
      ->check(CLI::Range(1, 1000).description(""))
      ->type_name("N");
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer(
      "Example:\n  thimble export-c lenet5 --batch 8 --optimizer sgd --out lenet5_c\n"
      "  make -C lenet5_c test");
  command->callback(
      [&action, arguments] { action = [arguments] { return export_c(*arguments); }; });
}

}  // namespace thimble::cli
