// thimble: train neural networks within a memory budget, from the command line.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <system_error>

#include "commands.h"
#include "exec/heap.h"
#include "exec/processor.h"
#include "help.h"

namespace thimble::cli {
namespace {

constexpr AddCommand kCommands[] = {
    add_train,    add_compile,     add_eval,      add_predict,  add_sample,        add_save,
    add_import,   add_adapt,       add_quantize,  add_export_c, add_export_tflite, add_export_lora,
    add_tokenize, add_export_onnx, add_configure, add_micro,    add_merge,         add_analyze,
    add_search,   add_summary,     add_plan,      add_pack,     add_ops,           add_version};

constexpr const char* kFooter =
    "Exit codes: 0 success; 1 failure; 2 a wrong command line; 130 stopped by\n"
    "Ctrl-C, everything saved. Errors are one line on standard error.";

// Prints the error on one line, even if the message has several.
void print_error(std::string message) {
  for (char& c : message) {
    if (c == '\n') c = ' ';
  }
  fmt::print(stderr, "thimble: {}\n", message);
}

// What no option of the command takes, and the commands that have such an option.
std::string unexpected_message(const CLI::App& app, const CLI::App& command) {
  std::string given;
  std::string hint;
  for (const std::string& text : command.remaining()) {
    given += (given.empty() ? "" : " ") + text;
    if (!hint.empty() || !text.starts_with("--")) continue;
    const std::string name = text.substr(0, text.find('='));
    std::string owners;
    for (const CLI::App* const other : app.get_subcommands([](const CLI::App*) { return true; })) {
      if (other->get_option_no_throw(name) == nullptr) continue;
      owners += (owners.empty() ? "" : ", ") + other->get_name();
    }
    if (!owners.empty()) hint = fmt::format("; {} is an option of {}", name, owners);
  }
  return fmt::format("not expected: {}{}", given, hint);
}

// The message for an invalid command line.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error, int argc,
                          char** argv) {
  if (argc < 2) return "a command is missing; thimble --help lists them";
  const auto all = app.get_subcommands([](const CLI::App*) { return true; });
  const bool known = std::any_of(all.begin(), all.end(), [&](const CLI::App* command) {
    return command->check_name(argv[1]);
  });
  if (argv[1][0] != '-' && !known) {
    return fmt::format("there is no command \"{}\"; thimble --help lists them", argv[1]);
  }
  const auto chosen = app.get_subcommands();
  const std::string command =
      chosen.empty() ? std::string("thimble") : "thimble " + chosen.front()->get_name();
  const bool is_unexpected = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  return fmt::format(
      "{}; see {} --help",
      is_unexpected && !chosen.empty() ? unexpected_message(app, *chosen.front()) : error.what(),
      command);
}

int run(int argc, char** argv) {
  CLI::App app{"Trains neural networks on the device that holds the data, inside a memory budget.",
               "thimble"};
  app.formatter(std::make_shared<HelpFormatter>());
  app.require_subcommand(1);
  app.footer(std::string("Help on a command: thimble COMMAND --help\n") + kFooter);
  Action action;
  for (const auto add : kCommands) add(app, action);
  for (CLI::App* const command : app.get_subcommands({})) {
    // A command's examples stand in its footer.
    const std::string own = command->get_footer();
    command->footer(own.starts_with("Example") ? own + "\n\n" + kFooter : std::string(kFooter));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    print_error(usage_message(app, error, argc, argv));
    return kUsage;
  }
  const int code = action();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw Error("standard output", "cannot be written; the disk behind it may be full");
  }
  return code;
}

}  // namespace
}  // namespace thimble::cli

int main(int argc, char** argv) {
  using namespace thimble::cli;
  thimble::exec::hold_heap();
  ::signal(SIGXFSZ, SIG_IGN);  // a file that grows past the user's limit is an error to report
  try {
    thimble::exec::check_processor();
    return run(argc, argv);
  } catch (const UsageError& error) {
    print_error(error.what());
    return kUsage;
  } catch (const std::bad_alloc&) {
    print_error("[memory] the machine has not enough memory; take a smaller batch or model");
  } catch (const std::system_error& error) {
    // fmt throws this when printing fails.
    print_error(fmt::format("[standard output] {}", error.what()));
  } catch (const std::exception& error) {
    print_error(error.what());
  }
  return kFailed;
}
