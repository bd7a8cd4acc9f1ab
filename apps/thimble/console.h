// What the commands show: progress on standard error, results on standard output.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace thimble::cli {

// A line that redraws itself on a terminal; on anything else it stays silent, so that logs hold
// one line an epoch. Redraws at most ten times a second.
class ProgressBar {
 public:
  ProgressBar();
  // done of total, a text before the bar and one after it.
  void show(int64_t done, int64_t total, const std::string& before, const std::string& after);
  void clear();
  // Whether a text is worth making now.
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

// From now on Ctrl-C (and SIGTERM) asks to stop; a second one stops at once.
void catch_interrupt();
[[nodiscard]] bool interrupted();

}  // namespace thimble::cli
