#include <fmt/format.h>
#include <thimble/thimble.h>

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "adapt_options.h"
#include "commands.h"
#include "console.h"
#include "data_source.h"
#include "generated.h"
#include "ini_model.h"
#include "io/atomic_file.h"
#include "io/html/training_report.h"
#include "ir/sizes.h"
#include "model.h"
#include "options.h"
#include "program_argument.h"
#include "text_printer.h"
#include "train/checkpoint.h"
#include "train/state.h"
#include "training_setup.h"

namespace thimble::cli {
namespace {

struct TrainArguments {
  SetupOptions setup;
  DataOptions data;
  int64_t epochs = 0;
  std::string out;
  std::string resume;
  std::string weights;
  std::string lora;
  bool json = false;
};

// One run of the command.
class Training {
 public:
  explicit Training(const TrainArguments& options)
      : options_(options),
        program_(program_of(options.setup)),
        is_program_(program_.has_value()),
        model_(made_model()),
        recipe_(model_->settings()),
        epochs_(options.epochs > 0                   ? options.epochs
                : program_ && program_->epochs() > 0 ? program_->epochs()
                                                     : recipe_.epochs),
        out_(options.out.empty() ? std::string("out/") + recipe_.name : options.out),
        source_(*model_, options.data),
        train_(source_.train()),
        test_(source_.test()),
        trainer_(made_trainer()),
        plan_(trainer_.plan()) {
    if (is_program_) leave_out_what_fills_no_batch();
  }

  int run() {
    io::make_directories(out_);
    { const io::AtomicFile probe(checkpoint()); }  // fails now if the folder cannot be written
    if (!options_.resume.empty()) trainer_.resume(options_.resume);
    std::string weights = options_.weights;
    if (weights.empty() && !is_program_) weights = model_->file();
    if (options_.resume.empty() && !weights.empty()) {
      train::load_weights(trainer_.state(), base_ ? base_->ir() : trainer_.state().model, weights);
    }
    if (trainer_.epochs() > epochs_) {
      throw Error("epochs",
                  fmt::format("{} in all are asked for, but {} are done already; ask for more, or "
                              "start anew",
                              epochs_, trainer_.epochs()));
    }
    print_start();
    catch_interrupt();
    const FitResult result = fit();
    bar_.clear();
    if (result.end == FitResult::End::stopped) {
      return stopped(fmt::format("stopped after step {}; everything is saved", result.steps));
    }
    return finish(result);
  }

 private:
  static std::optional<CompiledTraining> program_of(const SetupOptions& setup) {
    if (!is_program(setup.model)) return {};
    CompiledTraining program = CompiledTraining::load(setup.model);
    program.set_swap_dir(setup.swap_dir);
    return program;
  }

  [[nodiscard]] std::unique_ptr<Model> made_model() {
    if (program_) return std::make_unique<Model>(*program_, options_.setup.model);
    auto model = std::make_unique<Model>(options_.setup.model);
    require_loss(*model);
    if (!options_.lora.empty()) add_adapters(*model);
    return model;
  }

  void add_adapters(Model& model) {
    if (model.file().empty() && options_.weights.empty() && options_.resume.empty()) {
      throw UsageError(Error("--lora",
                             "adapters stand beside weights that are trained already; name a model "
                             "file, or a checkpoint with --weights"));
    }
    base_.emplace().ir() = model.graph().ir();
    model.set_graph(with_adapters(*base_, options_.lora));
  }

  [[nodiscard]] Trainer made_trainer() {
    if (program_) return Trainer(*std::exchange(program_, {}));
    TrainerOptions options =
        announced(with_pipeline(trainer_options(options_.setup, recipe_, updates()), train_));
    if (!options.scheme) return {model_->graph(), options};
    // Channels are chosen by the weights that the training begins with.
    Graph graph = model_->graph_with_weights(options_.weights);
    options =
        with_chosen_channels(std::move(options), graph, options_.resume, [this] { return train_; });
    return {std::move(graph), options};
  }

  // Planning large models for small budgets takes a while.
  static TrainerOptions announced(TrainerOptions options) {
    if (options.memory_budget > 0) {
      note(fmt::format(
          "planning a step within {}{}", format_bytes(options.memory_budget),
          options.swap == Swap::never ? "" : "; where it needs a swap file, it is rehearsed"));
    }
    return options;
  }

  // Of data of another number of samples than the program was compiled for.
  void leave_out_what_fills_no_batch() {
    const train::State& state = trainer_.state();
    const auto leave_out = [&](data::Dataset& samples, int64_t kept, const char* what,
                               const char* option) {
      if (kept == samples.size()) return;
      note(
          fmt::format("{} of {} {} samples are left out: they fill no batch of {}, and the program "
                      "was compiled for another number; to take them, compile it with {} {}",
                      samples.size() - kept, samples.size(), what, state.options.batch, option,
                      samples.size()));
      samples = samples.take(kept);
    };
    leave_out(train_, state.samples_with_programs(train_.size(), true), "training", "--samples");
    leave_out(test_, state.samples_with_programs(test_.size(), false), "test", "--test-samples");
  }

  [[nodiscard]] int64_t updates() const {
    return updates_of(options_.setup, recipe_, epochs_, train_.size());
  }
  [[nodiscard]] std::string checkpoint() const { return out_ + "/checkpoint.safetensors"; }

  // Tables are for people: with --json they go to standard error.
  void print_start() const {
    std::FILE* const stream = options_.json ? stderr : stdout;
    if (!is_program_) fmt::print(stream, "{}\n", model_->graph().summary());
    fmt::print(stream, "{}\n", plan_.text());
    fmt::print(stream, "{}: {} training and {} test samples\n", source_.name(), train_.size(),
               test_.size());
    std::fflush(stream);
  }

  [[nodiscard]] int stopped(const std::string& what) const {
    note(fmt::format("{}. To go on, run the same command with --resume {}{}", what, checkpoint(),
                     options_.weights.empty() ? "" : " in the place of --weights"));
    return kStopped;
  }

  FitResult fit() {
    FitOptions fit;
    fit.epochs = epochs_;
    fit.initial_epoch = trainer_.epochs();
    fit.validation = test_;
    fit.checkpoint = checkpoint();
    fit.stop = interrupted;
    fit.on_step = [this](const StepReport& step) { on_step(step); };
    fit.on_epoch = [this](const EpochReport& epoch) { on_epoch(epoch); };
    try {
      return trainer_.fit(train_, fit);
    } catch (const Error& error) {
      bar_.clear();
      const bool says_what_is_saved = error.message().find(checkpoint()) != std::string::npos;
      if (report_.epochs.empty() || says_what_is_saved) throw;
      throw Error(error.where(),
                  fmt::format("{}. The checkpoint after epoch {} is untouched: {}", error.message(),
                              report_.epochs.back().epoch, checkpoint()));
    }
  }

  void on_step(const StepReport& step) {
    report_.step_loss.push_back(static_cast<float>(step.loss));
    report_.step_learning_rate.push_back(static_cast<float>(step.learning_rate));
    if (first_step_ < 0) {
      first_step_ = report_.first_step = step.step;
      started_ = seconds_now();
    }
    if (!bar_.due()) return;
    const int64_t done = step.step - first_step_;  // since the clock was started
    const int64_t left = ir::bounded_product(epochs_, step.batches) - step.step - 1;
    const double each = done > 0 ? (seconds_now() - started_) / static_cast<double>(done)
                                 : 1e-3 * step.milliseconds;
    bar_.show(step.batch + 1, step.batches, fmt::format("epoch {}/{}", step.epoch + 1, epochs_),
              fmt::format("loss {:.4g}  {:.2f} ms/step  {} left", step.loss, step.milliseconds,
                          format_seconds(each * static_cast<double>(left))));
  }

  void on_epoch(const EpochReport& epoch) {
    bar_.clear();
    std::string line =
        fmt::format("epoch {:>2}/{}  train loss {:<8.5g}  test loss {:<8.5g}", epoch.epoch + 1,
                    epochs_, epoch.train.loss, epoch.validation->loss);
    for (const auto& [name, value] : epoch.validation->metrics) {
      line += fmt::format("  {} {:<6.4g}", name, value);
    }
    line += fmt::format("  lr {:.2e}  {}", epoch.learning_rate, format_seconds(epoch.seconds));
    note(line);
    report_.epochs.push_back({epoch.epoch + 1, trainer_.steps(), epoch.train.loss,
                              epoch.validation->loss, epoch.seconds, epoch.learning_rate});
  }

  int finish(const FitResult& result) {
    const double seconds = seconds_now();
    const Evaluation test = trainer_.evaluate(test_);
    // A resumed run without epochs left still writes its checkpoint.
    if (result.epochs.empty()) trainer_.save(checkpoint());
    Generated generated;
    if (recipe_.makes != SampleKind::none && !is_program_) {
      generated = generate({recipe_, trainer_, train_, test_, out_, options_.setup.seed,
                            source_.left_out_training()},
                           report_);
    }
    const auto accuracy = test.metrics.find("accuracy");
    nlohmann::ordered_json json{
        {"recipe", recipe_.name},
        {"epochs", epochs_},
        {"steps", result.steps},
        {"train_loss", result.epochs.empty() ? nlohmann::ordered_json()
                                             : number(result.epochs.back().train.loss)},
        {"test_loss", number(test.loss)},
        {"test_accuracy",
         accuracy == test.metrics.end() ? nlohmann::ordered_json() : number(accuracy->second)},
        {"test_metrics", test.metrics},
        {"inception_score",
         generated.verdict ? number(generated.verdict->inception_score) : nlohmann::ordered_json()},
        {"recognition", generated.verdict ? to_json(*generated.verdict) : nlohmann::ordered_json()},
        {"seconds", seconds},
        {"ms_per_step_median", result.ms_per_step_median > 0.0
                                   ? nlohmann::ordered_json(result.ms_per_step_median)
                                   : nlohmann::ordered_json()},
        {"planned_peak_bytes", plan_.planned_peak_bytes},
        // Samples in memory are part of neither peak.
        {"input_pipeline_bytes", result.input_pipeline_bytes - train_.bytes()},
        {"measured_peak_bytes", result.measured_peak_bytes},
        {"swap_read_bytes", result.swap_read_bytes},
        {"swap_written_bytes", result.swap_written_bytes},
        {"swap_busy_ms", result.swap_busy_ms},
        {"swap_stall_ms", result.swap_stall_ms},
        {"swap_expected_stall_ms", result.swap_expected_stall_ms},
        {"loss_scale",
         result.loss_scale > 0.0 ? number(result.loss_scale) : nlohmann::ordered_json()},
        {"skipped_updates", result.skipped_updates},
        {"peak_rss_bytes", peak_rss_bytes()},
        {"parameters", parameter_count(model_->graph())},
        {"weights_sha256", trainer_.weights_sha256()}};
    write_report(json, generated);
    if (interrupted())
      return stopped("stopped before the samples had a score; training is complete");
    if (options_.json) {
      print_json(json);
    } else {
      print_end(json, generated);
    }
    return kOk;
  }

  static nlohmann::ordered_json number(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
  }

  void write_report(const nlohmann::ordered_json& json, const Generated& generated) {
    report_.title = fmt::format("{} on {}", recipe_.name, source_.name());
    report_.facts = facts(json);
    if (generated.verdict) {
      report_.facts.insert(report_.facts.begin() + 2, {"samples", to_text(*generated.verdict)});
    }
    report_.plan = plan_;
    io::AtomicFile file(out_ + "/report.html");
    file.write(io::training_report_html(report_));
    file.commit();
  }

  // The main results, rounded.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> facts(
      const nlohmann::ordered_json& json) const {
    std::vector<std::pair<std::string, std::string>> list;
    const auto add = [&](const char* name, const char* key, const char* pattern) {
      if (!json[key].is_number()) return;
      list.emplace_back(name, fmt::format(fmt::runtime(pattern), json[key].get<double>()));
    };
    add("test loss", "test_loss", "{:.5g}");
    add("test accuracy", "test_accuracy", "{:.4f}");
    for (const auto& [name, value] : json["test_metrics"].items()) {
      if (name == "accuracy" || !value.is_number()) continue;
      list.emplace_back("test " + name, fmt::format("{:.5g}", value.get<double>()));
      if (name == "bits_per_byte") {
        list.emplace_back("test perplexity of a byte",
                          fmt::format("{:.5g}", std::exp2(value.get<double>())));
      }
    }
    add("inception score of the samples", "inception_score", "{:.3f}");
    add("training loss, last epoch", "train_loss", "{:.5g}");
    list.emplace_back("planned peak of a step", format_bytes(plan_.planned_peak_bytes));
    add_memory_facts(json, list);
    add("ms per step, median", "ms_per_step_median", "{:.3f}");
    list.emplace_back("time in all", format_seconds(json["seconds"].get<double>()));
    add("epochs", "epochs", "{:.0f}");
    add("steps", "steps", "{:.0f}");
    add("parameters", "parameters", "{:.0f}");
    list.emplace_back("optimizer", trainer_.options().optimizer.text());
    list.emplace_back("SHA-256 of the weights", json["weights_sha256"].get<std::string>());
    return list;
  }

  void add_memory_facts(const nlohmann::ordered_json& json,
                        std::vector<std::pair<std::string, std::string>>& list) const {
    const auto bytes = [&](const char* key) { return json[key].get<int64_t>(); };
    if (plan_.budget_bytes > 0) {
      list.emplace_back("memory budget", format_bytes(plan_.budget_bytes));
    }
    if (bytes("measured_peak_bytes") > 0) {
      list.emplace_back("reading samples, beside it", format_bytes(bytes("input_pipeline_bytes")));
      list.emplace_back("measured peak of both", format_bytes(bytes("measured_peak_bytes")));
    }
    list.emplace_back("whole process, peak", format_bytes(bytes("peak_rss_bytes")));
    const size_t steps = report_.step_loss.size();
    if (bytes("swap_read_bytes") == 0 || steps == 0) return;
    list.emplace_back("swap file, written and read",
                      fmt::format("{} and {}", format_bytes(bytes("swap_written_bytes")),
                                  format_bytes(bytes("swap_read_bytes"))));
    const auto of_step = [&](const char* key) {
      return json[key].get<double>() / static_cast<double>(steps);
    };
    list.emplace_back("swap file busy, per step",
                      fmt::format("predicted {:.3f} ms, measured {:.3f} ms", plan_.swap_busy_ms,
                                  of_step("swap_busy_ms")));
    list.emplace_back("waiting for the swap file, per step",
                      fmt::format("predicted {:.3f} ms, expected for the measured file {:.3f} ms, "
                                  "measured {:.3f} ms",
                                  plan_.swap_stall_ms, of_step("swap_expected_stall_ms"),
                                  of_step("swap_stall_ms")));
  }

  void print_end(const nlohmann::ordered_json& json, const Generated& generated) const {
    if (!generated.text.empty()) fmt::print("\n{}\n", printable(generated.text));
    fmt::print("\ntest loss {:.5g}",
               json["test_loss"].is_null() ? NAN : json["test_loss"].get<double>());
    if (json["test_accuracy"].is_number()) {
      fmt::print(", accuracy {:.2f} %", 100.0 * json["test_accuracy"].get<double>());
    }
    if (json["inception_score"].is_number()) {
      fmt::print(", inception score {:.3f}", json["inception_score"].get<double>());
    }
    if (generated.verdict) fmt::print("\nsamples: {}", to_text(*generated.verdict));
    if (json["ms_per_step_median"].is_number()) {
      fmt::print("\n{:.3f} ms per step (median), ", json["ms_per_step_median"].get<double>());
    } else {
      fmt::print("\nno step was left to train, ");
    }
    fmt::print("{} in all\n{}{}written to {}: report.html, checkpoint.safetensors{}\n",
               format_seconds(json["seconds"].get<double>()), memory_lines(json),
               loss_scale_line(json), out_, generated.files);
  }

  static std::string loss_scale_line(const nlohmann::ordered_json& json) {
    if (!json["loss_scale"].is_number()) return "";
    return fmt::format("loss scale {:g}; {} updates skipped, because f16 gradients overflowed\n",
                       json["loss_scale"].get<double>(), json["skipped_updates"].get<int64_t>());
  }

  static std::string memory_lines(const nlohmann::ordered_json& json) {
    const auto bytes = [&](const char* key) { return format_bytes(json[key].get<int64_t>()); };
    std::string lines =
        fmt::format("memory: planned peak of a step {}", bytes("planned_peak_bytes"));
    if (json["measured_peak_bytes"] != 0) {
      lines += fmt::format(" and {} to read samples; measured, both {}",
                           bytes("input_pipeline_bytes"), bytes("measured_peak_bytes"));
    }
    lines += fmt::format(", whole process {}\n", bytes("peak_rss_bytes"));
    if (json["swap_written_bytes"] != 0 || json["swap_read_bytes"] != 0) {
      lines += fmt::format(
          "swap file, all steps: {} written, {} read in {:.1f} ms, waited for {:.1f} ms\n",
          bytes("swap_written_bytes"), bytes("swap_read_bytes"), json["swap_busy_ms"].get<double>(),
          json["swap_stall_ms"].get<double>());
    }
    return lines;
  }

  const TrainArguments& options_;
  std::optional<CompiledTraining> program_;  // until the trainer has it
  const bool is_program_;                    // without graph and planning
  std::optional<Graph> base_;                // the model without the adapters that --lora adds
  std::unique_ptr<Model> model_;
  const Recipe& recipe_;  // its settings
  int64_t epochs_;
  std::string out_;
  DataSource source_;
  data::Dataset train_;
  data::Dataset test_;
  Trainer trainer_;
  Plan plan_;  // of a training step, as the command plan prints it
  ProgressBar bar_;
  io::TrainingReport report_;
  int64_t first_step_ = -1;
  double started_ = 0.0;
};

}  // namespace

void add_train(CLI::App& app, Action& action) {
  auto options = std::make_shared<TrainArguments>();
  CLI::App* command =
      app.add_subcommand("train", "Train a model and write checkpoint, report and pictures");
  options->setup.add_to(*command);
  options->data.add_to(*command);
  options->data.add_limit_train_to(*command);
  command
      ->add_option("--epochs", options->epochs,
                   "passes over the training data in all, those of a resumed run counted in "
                   "[the recipe's; of other models 10]")
      ->check(whole_number(1))
      ->type_name("N");
  command
      ->add_option("--out", options->out,
                   "folder for what is written [out/NAME of the recipe or file]")
      ->type_name("DIR");
  CLI::Option* const resume =
      command
          ->add_option(
              "--resume", options->resume,
              "checkpoint to go on from, with the options that its run had; --epochs may be more "
              "where the schedule does not depend on them, such as constant")
          ->type_name("FILE");
  command
      ->add_option("--weights", options->weights,
                   "checkpoint whose weights alone a new training begins with, with any options "
                   "[those of the model file; of a recipe new weights]")
      ->type_name("FILE")
      ->excludes(resume);
  add_lora_option(*command, options->lora)->excludes(command->get_option("--scheme"));
  command->add_flag(
      "--json", options->json,
      "print one JSON object as the last line of standard output, all else to standard error");
  command->footer(
      "Examples:\n  thimble train vae\n  thimble train lenet5 --data DIR --epochs 5 --threads 2\n"
      "  thimble train mlp --optimizer sgd:momentum=0.9 --lr 0.05 --schedule cosine");
  command->callback([&action, options, command] {
    action = [options, command] {
      if (is_ini_model(options->setup.model)) {
        require_ini_options(*command);
        if (options->json) throw UsageError(Error("--json", "is not for training INI files"));
        return train_ini(options->setup, options->epochs, options->out);
      }
      if (is_program(options->setup.model)) require_device_options(*command);
      return Training(*options).run();
    };
  });
}

}  // namespace thimble::cli
