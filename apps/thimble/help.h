// The layout of the help pages.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace thimble::cli {

// Help within 90 columns: names and types on the left, descriptions wrapped on the right.
class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter();
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_subcommand(const CLI::App* command) const override;
};

// Text broken at spaces into lines of at most `columns`; line breaks in it stay.
[[nodiscard]] std::string wrapped(const std::string& text, size_t columns);

}  // namespace thimble::cli
