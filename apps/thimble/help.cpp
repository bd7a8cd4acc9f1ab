#include "help.h"

#include <sstream>

namespace thimble::cli {
namespace {

constexpr size_t kNameColumns = 30;
constexpr size_t kTextColumns = 60;

}  // namespace

HelpFormatter::HelpFormatter() {
  column_width(kNameColumns);
  label("OPTIONS", "options");
  label("SUBCOMMAND", "COMMAND");
}

// Only the type, because the description says what else holds for a value.
std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_positional() || option->get_type_size() == 0) return {};
  return " " + option->get_type_name();
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  return wrapped(option->get_description(), kTextColumns);
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  std::ostringstream out;
  CLI::detail::format_help(out, command->get_name(),
                           wrapped(command->get_description(), kTextColumns), kNameColumns);
  return out.str();
}

std::string wrapped(const std::string& text, size_t columns) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!out.empty()) out += '\n';
    size_t begin = 0;
    while (line.size() - begin > columns) {
      const size_t space = line.rfind(' ', begin + columns);
      if (space == std::string::npos || space <= begin) break;
      out += line.substr(begin, space - begin) + '\n';
      begin = space + 1;
    }
    out += line.substr(begin);
  }
  return out;
}

}  // namespace thimble::cli
