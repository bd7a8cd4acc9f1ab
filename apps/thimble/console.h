// Output of the commands: progress on standard error, results on standard output.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace thimble::cli {

// A progress line that is redrawn on a terminal, at most ten times a second. It prints nothing
// elsewhere, so logs hold one line per epoch.
class ProgressBar {
 public:
  ProgressBar();
  // Shows done of total, with a text before and after the bar.
  void show(int64_t done, int64_t total, const std::string& before, const std::string& after);
  void clear();
  // Whether the line is due to be redrawn.
  [[nodiscard]] bool due() const;

 private:
  bool terminal_;
  bool drawn_ = false;
  double last_ = -1.0;
};

// Seconds since the program began.
[[nodiscard]] double seconds_now();

// "4.2 s", "3 min 05 s", "2 h 10 min"
[[nodiscard]] std::string format_seconds(double seconds);

// Prints one line to standard error, past any bar.
void note(const std::string& line);

// Prints the object as the last line of standard output. NaN and infinity become null.
void print_json(const nlohmann::ordered_json& object);

// Largest resident memory of this process so far, in bytes.
[[nodiscard]] int64_t peak_rss_bytes();

// Makes Ctrl-C (and SIGTERM) ask to stop; a second one stops at once.
void catch_interrupt();
[[nodiscard]] bool interrupted();

}  // namespace thimble::cli
