#include "c_compiler.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>
#include <vector>

namespace thimble::cli {
namespace {

constexpr int64_t kUnknownBytes = -1;

struct Function {
  int64_t bytes = kUnknownBytes;
  bool is_own = false;  // compiled here
  std::vector<std::string> calls;
};

// The text between quotes behind a key: title: "a".
std::string value_of(const std::string& line, const std::string& key) {
  const size_t at = line.find(key + ": \"");
  if (at == std::string::npos) return "";
  const size_t begin = at + key.size() + 3;
  return line.substr(begin, line.find('"', begin) - begin);
}

class CallGraph {
 public:
  explicit CallGraph(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("node:")) add_node(line);
      if (line.starts_with("edge:")) {
        functions_[value_of(line, "sourcename")].calls.push_back(value_of(line, "targetname"));
      }
    }
  }

  void measure(CompiledSize& size) {
    int64_t most = 0;
    bool is_known = true;
    for (const auto& [name, function] : functions_) {
      if (!function.is_own) {
        size.library.insert(name);
        continue;
      }
      const int64_t bytes = depth(name);
      is_known = is_known && bytes != kUnknownBytes;
      most = std::max(most, bytes);
    }
    if (is_known) size.stack_bytes = most;
  }

 private:
  // label: "f\nmodel.c:1:2\n64 bytes (static)\n0 dynamic objects"; "(dynamic,bounded)" is a bound,
  // too.
  void add_node(const std::string& line) {
    Function& function = functions_[value_of(line, "title")];
    const std::string label = value_of(line, "label");
    const size_t end =
        std::min(label.find(" bytes (static"), label.find(" bytes (dynamic,bounded"));
    if (end == std::string::npos) {
      function.is_own = label.find(" bytes (") != std::string::npos;
      return;
    }
    const size_t begin = label.rfind('n', end) + 1;
    function.is_own = true;
    function.bytes = std::stoll(label.substr(begin, end - begin));
  }

  int64_t depth(const std::string& name) {
    const Function& function = functions_[name];
    if (!function.is_own) return 0;
    const auto [known, is_new] = depths_.emplace(name, kUnknownBytes);  // a cycle has no depth
    if (!is_new || function.bytes == kUnknownBytes) return known->second;
    int64_t most = 0;
    for (const std::string& called : function.calls) {
      const int64_t below = depth(called);
      if (below == kUnknownBytes) return kUnknownBytes;
      most = std::max(most, below);
    }
    return depths_[name] = function.bytes + most;
  }

  std::map<std::string, Function> functions_;
  std::map<std::string, int64_t> depths_;
};

// A folder that disappears.
class ScratchFolder {
 public:
  ScratchFolder() : path_((std::filesystem::temp_directory_path() / "thimble-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~ScratchFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Standard output of a command; nothing where it fails.
std::optional<std::string> output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string text;
  char part[256];
  while (const size_t count = fread(part, 1, sizeof part, pipe)) text.append(part, count);
  return pclose(pipe) == 0 ? std::optional(text) : std::nullopt;
}

std::string quoted(const std::string& path) {
  std::string text = "'";
  for (const char c : path) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

void read_call_graph(const std::string& text, CompiledSize& size) { CallGraph(text).measure(size); }

std::optional<CompiledSize> compiled_size(const std::string& folder) {
  const ScratchFolder scratch;
  if (scratch.path().empty()) return std::nullopt;
  const std::string object = scratch.path() + "/model.o";
  const std::string compile =
      fmt::format("gcc -std=c99 -O2 -ffp-contract=off -fcallgraph-info=su -c {} -o {} 2>/dev/null",
                  quoted(folder + "/thimble_model.c"), quoted(object));
  if (!output_of(compile)) return std::nullopt;
  CompiledSize size;
  // "   text    data ..." and a line of numbers.
  const auto sections = output_of(fmt::format("size -A {} 2>/dev/null", quoted(object)));
  if (!sections) return std::nullopt;
  std::istringstream lines(*sections);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    int64_t bytes = 0;
    if (words >> name >> bytes && name.starts_with(".text")) size.code_bytes += bytes;
  }
  read_call_graph(contents(scratch.path() + "/model.ci"), size);
  return size;
}

}  // namespace thimble::cli
