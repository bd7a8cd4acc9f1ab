#include "cli/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace thimble::test {
namespace {

constexpr const char* kProgram = THIMBLE_BINARY_DIR "/bin/thimble";
constexpr useconds_t kPollMicroseconds = 500;

void redirect(const std::string& path, int descriptor) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY, 0644);
  if (file < 0 || ::dup2(file, descriptor) < 0) ::_exit(126);
  ::close(file);
}

}  // namespace

Process::Process(const std::vector<std::string>& arguments, const RunOptions& options) {
  std::vector<std::string> all{kProgram};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& argument : all) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const std::string out =
      options.standard_output.empty() ? folder_ / "out" : options.standard_output;
  const std::string err = options.standard_error.empty() ? folder_ / "err" : options.standard_error;
  child_ = ::fork();
  if (child_ != 0) return;
  redirect(out, STDOUT_FILENO);
  redirect(err, STDERR_FILENO);
  ::unsetenv("THIMBLE_DATA");
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (options.file_bytes >= 0) {
    const rlimit limit{static_cast<rlim_t>(options.file_bytes),
                       static_cast<rlim_t>(options.file_bytes)};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    if (options.output_full) ::lseek(STDOUT_FILENO, options.file_bytes, SEEK_SET);
  }
  ::execv(kProgram, argv.data());
  ::_exit(127);
}

Process::~Process() {
  if (!running()) return;
  signal(SIGKILL);
  ::waitpid(child_, &status_, 0);
}

void Process::signal(int number) const {
  if (child_ > 0) ::kill(child_, number);
}

bool Process::running() {
  if (child_ <= 0) return false;
  if (::waitpid(child_, &status_, WNOHANG) == 0) return true;
  child_ = -1;
  return false;
}

bool Process::says(const std::string& text) {
  while (true) {
    const bool goes_on = running();
    if (read_text(folder_ / "err").find(text) != std::string::npos) return true;
    if (!goes_on) return false;
    ::usleep(kPollMicroseconds);
  }
}

Outcome Process::wait() {
  if (child_ > 0) ::waitpid(child_, &status_, 0);
  child_ = -1;
  const int code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  return {code, read_text(folder_ / "out"), read_text(folder_ / "err")};
}

Terminal::Terminal(int columns) : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
  if (master_ < 0 || ::grantpt(master_) != 0 || ::unlockpt(master_) != 0) return;
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = 24;
  ::ioctl(master_, TIOCSWINSZ, &size);
  path_ = ::ptsname(master_);
}

Terminal::~Terminal() {
  if (master_ >= 0) ::close(master_);
}

std::string Terminal::read() const {
  std::string seen;
  char part[4096];
  ssize_t count = 0;
  while ((count = ::read(master_, part, sizeof part)) > 0) seen.append(part, count);
  return seen;
}

Outcome run(const std::vector<std::string>& arguments, const RunOptions& options) {
  return Process(arguments, options).wait();
}

nlohmann::ordered_json last_line_json(const std::string& text) {
  if (text.empty() || text.back() != '\n') {
    ADD_FAILURE() << "no whole line in: " << text;
    return {};
  }
  const size_t end = text.size() - 1;
  const size_t before = text.rfind('\n', end - 1);
  const size_t begin = before == std::string::npos ? 0 : before + 1;
  auto object = nlohmann::ordered_json::parse(text.substr(begin, end - begin), nullptr, false);
  EXPECT_TRUE(object.is_object()) << text;
  return object;
}

long lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

std::string keys(const nlohmann::ordered_json& object) {
  std::string all;
  for (const auto& [key, value] : object.items()) all += (all.empty() ? "" : " ") + key;
  return all;
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string read_text(const std::string& path) {
  const std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> short_training(const std::string& recipe, const std::string& out,
                                        const std::vector<std::string>& more) {
  std::vector<std::string> all{"train", recipe,         "--out", out,         "--limit-train",
                               "160",   "--limit-test", "32",    "--threads", "1"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace thimble::test
