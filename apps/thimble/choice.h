// Options that take one of some names.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <utility>

namespace thimble::cli {

// Adds such an option. choices must outlive the command.
template <class T, size_t n>
void choice(CLI::App& command, const char* option, T& value,
            const std::pair<const char*, T> (&choices)[n], const char* help) {
  std::string names;
  for (const auto& [name, each] : choices)
    names += fmt::format("{}{}", names.empty() ? "" : "|", name);
  command
      .add_option_function<std::string>(
          option,
          [&value, &choices](const std::string& text) {
            for (const auto& [name, each] : choices) {
              if (text == name) value = each;
            }
          },
          help)
      ->check(CLI::Validator(
          [&choices, names](const std::string& text) {
            for (const auto& [name, each] : choices) {
              if (text == name) return std::string();
            }
            return fmt::format("expected {}, got \"{}\"", names, text);
          },
          ""))
      ->type_name(names);
}

}  // namespace thimble::cli
