// Programs in the place of a recipe.
#pragma once

#include <thimble/thimble.h>

#include <CLI/CLI.hpp>
#include <string>

namespace thimble::cli {

// Whether there is a program file of that name: its first bytes say so.
[[nodiscard]] bool is_program(const std::string& path);

// Throws UsageError where an option of the command was given that is settled in a program.
void require_device_options(const CLI::App& command);

}  // namespace thimble::cli
