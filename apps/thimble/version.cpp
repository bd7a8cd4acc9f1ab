#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "console.h"

namespace thimble::cli {

void add_version(CLI::App& app, Action& action) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("version", "Print the version");
  command->add_flag("--json", *json, "print one JSON object instead");
  command->callback([&action, json] {
    action = [json] {
      if (*json) {
        print_json({{"version", THIMBLE_VERSION}});
      } else {
        fmt::print("thimble {}\n", THIMBLE_VERSION);
      }
      return kOk;
    };
  });
}

}  // namespace thimble::cli
