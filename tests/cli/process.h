// Runs the command line as a user does, in a process of its own.
#pragma once

#include <sys/types.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/temporary_folder.h"

namespace thimble::test {

struct RunOptions {
  std::map<std::string, std::string> environment;  // set in the child
  std::string standard_output;  // a file for the output; empty: collected in memory
  std::string standard_error;   // the same
  long file_bytes = -1;         // no file may grow past this; -1: no limit
  bool output_full = false;  // standard output is a file at its size limit, so that writing fails
};

struct Outcome {
  int code = -1;  // exit code; 128 + signal if a signal ended it
  std::string out;
  std::string err;
};

// A started `thimble ARGUMENTS...`. THIMBLE_DATA is taken from its environment.
class Process {
 public:
  explicit Process(const std::vector<std::string>& arguments, const RunOptions& options = {});
  // Kills the process if it still runs.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const;
  // Returns when the text appears in standard error; false if the process ended without it.
  [[nodiscard]] bool says(const std::string& text);
  [[nodiscard]] bool running();
  [[nodiscard]] Outcome wait();

 private:
  TemporaryFolder folder_;
  pid_t child_ = -1;
  int status_ = 0;
};

// A pseudo terminal as standard output or error of a process.
class Terminal {
 public:
  explicit Terminal(int columns);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // The path to open; empty where the system provides none.
  [[nodiscard]] const std::string& path() const { return path_; }
  // Everything written to it, until every writer has closed it.
  [[nodiscard]] std::string read() const;

 private:
  int master_;
  std::string path_;
};

// Starts it and waits for its end.
[[nodiscard]] Outcome run(const std::vector<std::string>& arguments,
                          const RunOptions& options = {});

// The object on the last line of text. Fails the test where it is none.
[[nodiscard]] nlohmann::ordered_json last_line_json(const std::string& text);

// Number of lines.
[[nodiscard]] long lines(const std::string& text);

// The keys in their order, joined by spaces.
[[nodiscard]] std::string keys(const nlohmann::ordered_json& object);

void write_text(const std::string& path, const std::string& text);
[[nodiscard]] std::string read_text(const std::string& path);

// A quick training: the recipe and --out are added in front. Digits are the built-in ones.
[[nodiscard]] std::vector<std::string> short_training(const std::string& recipe,
                                                      const std::string& out,
                                                      const std::vector<std::string>& more = {});

}  // namespace thimble::test
