#include "options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "commands.h"
#include "open_options.h"

namespace thimble::cli {
namespace {

std::string data_help(Offered offered) {
  std::vector<std::pair<std::string, std::string>> lines;  // description, and the names
  for (const Recipe& recipe : recipes()) {
    if (!offered(recipe)) continue;
    const auto same = std::find_if(lines.begin(), lines.end(),
                                   [&](const auto& line) { return line.first == recipe.data_doc; });
    if (same == lines.end()) {
      lines.emplace_back(recipe.data_doc, recipe.name);
    } else {
      same->second += fmt::format(", {}", recipe.name);
    }
  }
  std::string help =
      "real data; without it THIMBLE_DATA is taken, where that has data for the recipe, and "
      "without that what is built in. Of";
  for (const auto& [what, names] : lines) help += fmt::format("\n{}: {}", names, what);
  return help +
         "\nof all: .npz, .safetensors, .csv, .npy or IDX files (a.npy,b.idx) by the names of "
         "inputs and labels, or a folder: of images (PNG, JPEG) or sounds (WAV), a folder a class, "
         "in train and test or not";
}

}  // namespace

void DataOptions::add_path_to(CLI::App& command, Offered offered) {
  command.add_option("--data", path, data_help(offered))->type_name("PATH");
  add_open_options(command, open);
}

void DataOptions::add_to(CLI::App& command, Offered offered) {
  add_path_to(command, offered);
  command.add_option("--limit-test", limit_test, "use the first N test samples only")
      ->check(whole_number(1))
      ->type_name("N");
}

void DataOptions::add_limit_train_to(CLI::App& command) {
  command.add_option("--limit-train", limit_train, "use the first N training samples only")
      ->check(whole_number(1))
      ->type_name("N");
}

void add_threads(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "threads; the result is the same [one per processor]")
      ->check(whole_number(1, 1024))
      ->type_name("N");
}

void add_reference_kernels(CLI::App& command, bool& reference_kernels) {
  command.add_flag("--reference-kernels", reference_kernels,
                   "run the plain C kernels alone, far slower: the same bits as C sources and as "
                   "thimble-micro on a microcontroller");
}

CLI::Validator whole_number() { return whole_number(INT64_MIN); }

CLI::Validator whole_number(int64_t low, int64_t high) {
  return CLI::Validator(
      [low, high](const std::string& text) {
        int64_t value = 0;
        const char* const end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, value);
        if (error == std::errc() && rest == end && value >= low && value <= high)
          return std::string();
        const std::string range = low == INT64_MIN    ? ""
                                  : high == INT64_MAX ? fmt::format(" of {} or more", low)
                                                      : fmt::format(" from {} to {}", low, high);
        return fmt::format("expected a whole number{}, got \"{}\"", range, text);
      },
      "");
}

namespace {

// Finite numbers for which `holds`.
CLI::Validator number(bool (*holds)(double), const char* expected) {
  return CLI::Validator(
      [holds, expected](const std::string& text) {
        double value = 0.0;
        const char* const end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, value);
        if (error == std::errc() && rest == end && std::isfinite(value) && holds(value)) {
          return std::string();
        }
        return fmt::format("expected {}, got \"{}\"", expected, text);
      },
      "");
}

}  // namespace

CLI::Validator any_number() {
  return number([](double) { return true; }, "a number");
}

CLI::Validator above_zero() {
  return number([](double x) { return x > 0.0; }, "a number above 0");
}

CLI::Validator zero_to_one() {
  return number([](double x) { return x >= 0.0 && x < 1.0; }, "a number from 0 to below 1");
}

int64_t parse_bytes(const std::string& text) {
  constexpr const char* kWhere = "memory budget";
  const std::string hint = "; write for example 262144, 256KiB, 24MiB or 1GiB";
  double number = 0.0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const bool is_extreme = error == std::errc::result_out_of_range;
  if (is_extreme) number = std::strtod(text.c_str(), nullptr);  // infinite, or next to nothing
  const bool is_number = is_extreme || (error == std::errc() && std::isfinite(number));
  if (!is_number || number < 0) {
    throw Error(kWhere, "\"" + text + "\" is not a size" + hint);
  }
  std::string unit(rest, end);
  unit.erase(
      std::remove_if(unit.begin(), unit.end(), [](unsigned char c) { return std::isspace(c); }),
      unit.end());
  for (char& c : unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::pair<const char*, double> kUnits[] = {
      {"", 1.0},       {"b", 1.0},         {"bytes", 1.0},
      {"kib", 1024.0}, {"mib", 1048576.0}, {"gib", 1073741824.0},
      {"kb", 1e3},     {"mb", 1e6},        {"gb", 1e9}};
  for (const auto& [name, factor] : kUnits) {
    if (unit != name) continue;
    if (number * factor >= 9e18) {
      throw Error(kWhere, fmt::format("\"{}\" is more than any machine has{}", text, hint));
    }
    if (number * factor >= 1.0) return static_cast<int64_t>(number * factor);
    throw Error(kWhere, "\"" + text +
                            "\" is less than a byte; name what training may take, or leave the "
                            "option out for no limit");
  }
  throw Error(kWhere, "\"" + text + "\" is not a size" + hint);
}

}  // namespace thimble::cli
