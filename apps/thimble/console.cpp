#include "console.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "progress_line.h"

namespace thimble::cli {
namespace {

constexpr double kRedrawSeconds = 0.1;
const auto kStart = std::chrono::steady_clock::now();

volatile sig_atomic_t interrupts = 0;

void on_signal(int signal) {
  if (interrupts != 0) _exit(128 + signal);
  interrupts = 1;
}

int terminal_columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - kStart).count();
}

ProgressBar::ProgressBar() : terminal_(::isatty(STDERR_FILENO) == 1) {}

bool ProgressBar::due() const { return terminal_ && seconds_now() - last_ >= kRedrawSeconds; }

void ProgressBar::show(int64_t done, int64_t total, const std::string& before,
                       const std::string& after) {
  if (!terminal_) return;
  last_ = seconds_now();
  const std::string line = progress_line(terminal_columns(), done, total, before, after);
  if (line.empty()) return;
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::clear() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
  drawn_ = false;
}

std::string format_seconds(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(seconds);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

void note(const std::string& line) { fmt::print(stderr, "{}\n", line); }

void print_json(const nlohmann::ordered_json& object) {
  fmt::print("{}\n", object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  std::fflush(stdout);
}

int64_t peak_rss_bytes() {
  // getrusage counts the program that started this one, too, as long as it shared its memory.
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib * 1024;
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;
}

void catch_interrupt() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interrupts != 0; }

}  // namespace thimble::cli
