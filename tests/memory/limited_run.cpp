#include "memory/limited_run.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <utility>
#include <vector>

namespace thimble::test {
namespace {

constexpr int64_t kKiB = 1024;

// "1,024" -> 1024
int64_t number(std::string text) {
  std::erase(text, ',');
  return std::stoll(text);
}

void set_address_limit(int64_t bytes) {
  const auto limit = static_cast<rlim_t>(bytes);
  const struct rlimit limits { limit, limit };
  if (bytes > 0 && ::setrlimit(RLIMIT_AS, &limits) != 0) ::_exit(126);
}

std::string read_all(int file) {
  std::string text;
  char part[4096];
  for (;;) {
    const ssize_t count = ::read(file, part, sizeof part);
    if (count <= 0) break;
    text.append(part, static_cast<size_t>(count));
  }
  return text;
}

}  // namespace

PublishedSizes published_sizes() {
  PublishedSizes sizes;
  std::ifstream page(THIMBLE_SOURCE_DIR "/docs/guide/memory-plan.md");
  const std::regex row(R"(\| ([^|]+) \| ([0-9,]+) KiB \|.*)");
  std::string line;
  for (std::smatch parts; std::getline(page, line);) {
    if (!std::regex_match(line, parts, row)) continue;
    const std::string name = parts[1];
    const int64_t bytes = number(parts[2]) * kKiB;
    if (name == "program and libraries") {
      sizes.program = bytes;
    } else if (name == "each thread's stack") {
      sizes.thread = bytes;
    } else {
      sizes.structures[name] = bytes;
    }
  }
  EXPECT_GT(sizes.program, 0);
  EXPECT_GT(sizes.thread, 0);
  EXPECT_EQ(sizes.structures.size(), 8U);
  return sizes;
}

LimitedOutcome run_limited(std::vector<std::string> arguments, int64_t address_limit) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  int ends[2];
  LimitedOutcome outcome;
  if (::pipe(ends) != 0) return outcome;
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::unsetenv("THIMBLE_DATA");
    set_address_limit(address_limit);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  outcome.text = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

LimitedOutcome train_limited(const LimitedRun& run) {
  std::vector<std::string> arguments = {THIMBLE_BINARY_DIR "/bin/limited_training",
                                        run.recipe,
                                        std::to_string(run.batch),
                                        std::to_string(run.budget),
                                        std::to_string(run.program),
                                        std::to_string(run.hold)};
  if (!run.file.empty()) arguments.push_back(run.file);
  LimitedOutcome outcome = run_limited(std::move(arguments), run.address_limit);
  std::istringstream lines(outcome.text);
  for (std::string name, value; lines >> name >> value;) {
    if (name == "weights") {
      outcome.weights = value;
    } else if (value.find_first_not_of("0123456789") == std::string::npos) {
      outcome.figures[name] = std::stoll(value);
    }
  }
  return outcome;
}

}  // namespace thimble::test
