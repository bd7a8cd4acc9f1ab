#include "program_argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "commands.h"
#include "program/sections.h"

namespace thimble::cli {
namespace {

// Options that a program leaves open, among them how samples become the inputs that it takes; all
// others were settled when it was compiled.
constexpr std::array<std::string_view, 17> kDeviceOptions = {
    "MODEL",          "--data",        "--validation-split", "--stratified",
    "--image-fit",    "--image-mean",  "--image-deviation",  "--sample-rate",
    "--sound-window", "--limit-train", "--limit-test",       "--epochs",
    "--out",          "--resume",      "--weights",          "--swap-dir",
    "--json"};

}  // namespace

bool is_program(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string first(program::kMagic.size(), '\0');
  file.read(first.data(), static_cast<std::streamsize>(first.size()));
  return file && first == program::kMagic;
}

void require_device_options(const CLI::App& command) {
  for (const CLI::Option* const option : command.get_options()) {
    const std::string name = option->get_name();
    const bool is_known =
        std::find(kDeviceOptions.begin(), kDeviceOptions.end(), name) != kDeviceOptions.end();
    if (option->count() == 0 || is_known || name == "--help") continue;
    throw UsageError(Error(name,
                           "is settled in a program: its steps and its memory were planned for "
                           "it; leave it out here, or give it to thimble compile"));
  }
}

}  // namespace thimble::cli
