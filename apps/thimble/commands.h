// The commands of the command line, one file each.
#pragma once

#include <thimble/error.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace thimble::cli {

// Exit codes.
enum Exit : int {
  kOk = 0,
  kFailed = 1,    // an error while working: one line on standard error
  kUsage = 2,     // an invalid command line: UsageError
  kStopped = 130  // stopped by Ctrl-C, everything saved
};

// An invalid setting on the command line: an unknown recipe, a contradictory schedule.
class UsageError : public Error {
 public:
  explicit UsageError(const Error& error) : Error(error) {}
};

// The result of make(), whose errors become UsageErrors.
template <class Make>
auto from_command_line(const Make& make) {
  try {
    return make();
  } catch (const Error& error) {
    throw UsageError(error);
  }
}

// Runs the chosen command and returns its exit code. May throw thimble::Error.
using Action = std::function<int()>;

// Adds a command to the application; parsing it sets `action`.
using AddCommand = void (*)(CLI::App& app, Action& action);

void add_train(CLI::App& app, Action& action);
void add_compile(CLI::App& app, Action& action);
void add_export_c(CLI::App& app, Action& action);
void add_export_tflite(CLI::App& app, Action& action);
void add_export_lora(CLI::App& app, Action& action);
void add_tokenize(CLI::App& app, Action& action);
void add_export_onnx(CLI::App& app, Action& action);
void add_configure(CLI::App& app, Action& action);
void add_micro(CLI::App& app, Action& action);
void add_merge(CLI::App& app, Action& action);
void add_eval(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_import(CLI::App& app, Action& action);
void add_adapt(CLI::App& app, Action& action);
void add_analyze(CLI::App& app, Action& action);
void add_search(CLI::App& app, Action& action);
void add_quantize(CLI::App& app, Action& action);
void add_save(CLI::App& app, Action& action);
void add_sample(CLI::App& app, Action& action);
void add_summary(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_pack(CLI::App& app, Action& action);
void add_ops(CLI::App& app, Action& action);
void add_version(CLI::App& app, Action& action);

}  // namespace thimble::cli
