// Builds an exported folder with the compilers of this machine, and runs its test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "cli/process.h"

namespace thimble::test {

inline bool has(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

// GCC and Clang, each where it is installed, the newest Clang where it has its number in its name.
inline std::vector<std::string> compilers() {
  constexpr int kNewest = 30;
  constexpr int kOldest = 11;
  std::vector<std::string> found;
  if (has("gcc")) found.emplace_back("gcc");
  std::string clang = "clang";
  for (int number = kNewest; !has(clang) && number >= kOldest; --number) {
    clang = "clang-" + std::to_string(number);
  }
  if (has(clang)) found.push_back(clang);
  return found;
}

// Runs the test of an exported folder; its output.
inline std::string make_test(const std::string& folder, const std::string& compiler) {
  const std::string log = folder + "/log";
  const std::string command =
      "make -C '" + folder + "' clean test CC=" + compiler + " >'" + log + "' 2>&1";
  const int code = std::system(command.c_str());
  return (code == 0 ? "passed " : "failed ") + read_text(log);
}

// Exports a model; the report.
inline nlohmann::ordered_json exported(const std::string& model,
                                       const std::vector<std::string>& options,
                                       const std::string& out) {
  std::vector<std::string> words{"export-c", model, "--json", "--out", out};
  words.insert(words.end(), options.begin(), options.end());
  const Outcome outcome = run(words);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.code == 0 ? last_line_json(outcome.out) : nlohmann::ordered_json();
}

// The C code builds without a warning and gives the engine's bits.
inline void expect_equal_bits(const std::string& out) {
  const std::vector<std::string> all = compilers();
  for (const std::string& compiler : all) {
    EXPECT_THAT(make_test(out, compiler), ::testing::HasSubstr("all equal")) << compiler;
  }
  if (all.empty()) GTEST_SKIP() << "neither gcc nor clang is installed";
}

}  // namespace thimble::test
