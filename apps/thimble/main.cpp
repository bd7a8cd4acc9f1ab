// thimble: train neural networks within a memory budget, from the command line.
#include <fmt/format.h>
#include <thimble/error.h>

#include <cstdio>
#include <exception>

#include "commands.h"

namespace {

constexpr thimble::cli::AddCommand kCommands[] = {
    thimble::cli::add_train,   thimble::cli::add_eval, thimble::cli::add_sample,
    thimble::cli::add_summary, thimble::cli::add_plan, thimble::cli::add_ops,
    thimble::cli::add_version};

// One line, whatever the message holds.
void print_error(std::string message) {
  for (char& c : message) {
    if (c == '\n') c = ' ';
  }
  fmt::print(stderr, "thimble: {}\n", message);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "thimble trains neural networks on the device that holds the data, inside a memory "
      "budget.",
      "thimble"};
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 success; 1 failure; 2 bad command line; 130 stopped by Ctrl-C, "
      "everything saved.\nHelp on a command: thimble COMMAND --help");
  thimble::cli::Action action;
  for (const auto add : kCommands) add(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    print_error(fmt::format("{}; see thimble --help", error.what()));
    return thimble::cli::kUsage;
  }
  try {
    return action();
  } catch (const thimble::Error& error) {
    print_error(error.what());
  } catch (const std::bad_alloc&) {
    print_error("[memory] the machine has not enough memory; take a smaller batch or model");
  } catch (const std::exception& error) {
    print_error(error.what());
  }
  return thimble::cli::kFailed;
}
