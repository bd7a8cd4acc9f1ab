// Training in a process that may use no more memory than is published.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace thimble::test {

// Bytes that a program needs besides its budget, as docs/guide/memory-plan.md publishes them.
struct PublishedSizes {
  int64_t program = 0;                        // the program and its libraries
  int64_t thread = 0;                         // the stack of one thread
  std::map<std::string, int64_t> structures;  // by recipe
};

// Reads the page. Fails the test if it has no such tables.
[[nodiscard]] PublishedSizes published_sizes();

struct LimitedRun {
  std::string recipe;
  int64_t batch = 0;
  int64_t budget = 0;
  int64_t address_limit = 0;  // 0: none
  int64_t program = 0;        // the program is padded to that many bytes; 0: not padded
  int64_t hold = 0;           // bytes held besides the training
  std::string file = {};      // a program of it; empty: graph and planner
};

struct LimitedOutcome {
  int code = -1;  // exit code; 128 + signal where one ended it
  std::string text;
  std::map<std::string, int64_t> figures;  // by the names that limited_training prints
  std::string weights;                     // their SHA-256
};

// Runs a program, with the built-in data, in a process whose address space has a limit; 0: none.
[[nodiscard]] LimitedOutcome run_limited(std::vector<std::string> arguments, int64_t address_limit);

// Runs the program limited_training.
[[nodiscard]] LimitedOutcome train_limited(const LimitedRun& run);

}  // namespace thimble::test
