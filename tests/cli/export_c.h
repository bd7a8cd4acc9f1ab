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
  bool is_compared = false;
  for (const char* const compiler : {"gcc", "clang-14"}) {
    if (!has(compiler)) continue;
    is_compared = true;
    EXPECT_THAT(make_test(out, compiler), ::testing::HasSubstr("all equal")) << compiler;
  }
  if (!is_compared) GTEST_SKIP() << "neither gcc nor clang-14 is installed";
}

}  // namespace thimble::test
