#include "io/pack_csv/pack_csv.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

namespace thimble::io {
namespace {

constexpr std::array<std::string_view, 6> kColumns = {"id",   "lower",     "upper",
                                                      "size", "alignment", "offset"};
enum Column : size_t { kId, kLower, kUpper, kSize, kAlignment, kOffset };
constexpr size_t kNeeded = kAlignment;  // the columns before it
constexpr size_t kAbsent = SIZE_MAX;

// A cell for an error message: short, and on one line.
std::string shown(std::string_view cell) {
  constexpr size_t kLongest = 40;
  std::string text(cell.substr(0, kLongest));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  }
  return "\"" + text + (cell.size() > kLongest ? "...\"" : "\"");
}

std::string_view trimmed(std::string_view cell) {
  const size_t first = cell.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return cell.substr(first, cell.find_last_not_of(" \t") - first + 1);
}

class Parser {
 public:
  Parser(const std::string& file, std::string_view text) : file_(file), rest_(text) {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);  // byte order mark
  }

  PackTable parse() {
    if (!next_line()) {
      throw Error(file_, "is empty; write a line id,lower,upper,size and one line per buffer");
    }
    read_header();
    while (next_line()) read_buffer();
    return std::move(table_);
  }

 private:
  // The cells of the next line that is not empty.
  bool next_line() {
    while (!rest_.empty()) {
      const size_t end = rest_.find('\n');
      std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
      ++line_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (trimmed(line).empty()) continue;
      cells_.clear();
      for (size_t comma = 0; comma != std::string_view::npos;) {
        comma = line.find(',');
        cells_.push_back(trimmed(line.substr(0, comma)));
        line.remove_prefix(comma == std::string_view::npos ? line.size() : comma + 1);
      }
      return true;
    }
    return false;
  }

  void read_header() {
    at_.fill(kAbsent);
    for (size_t c = 0; c < cells_.size(); ++c) {
      const auto known = std::find(kColumns.begin(), kColumns.end(), cells_[c]);
      if (known == kColumns.end()) {
        throw Error(file_, fmt::format("line {}: {} is no column; the first line names id, lower, "
                                       "upper, size and perhaps alignment",
                                       line_, shown(cells_[c])));
      }
      size_t& place = at_[static_cast<size_t>(known - kColumns.begin())];
      if (place != kAbsent) fail(*known, "the column stands twice; remove one");
      place = c;
    }
    for (size_t c = 0; c < kNeeded; ++c) {
      if (at_[c] == kAbsent) fail(kColumns[c], "the column is missing; add it");
    }
    width_ = cells_.size();
    table_.has_alignment = at_[kAlignment] != kAbsent;
  }

  void read_buffer() {
    if (cells_.size() != width_) {
      throw Error(file_, fmt::format("line {}: {} fields, but the first line names {}; write one "
                                     "for each column",
                                     line_, cells_.size(), width_));
    }
    const std::string_view id = cells_[at_[kId]];
    if (id.empty()) fail("id", "is empty; name the buffer");
    const auto [known, is_new] = line_of_.emplace(id, line_);
    if (!is_new) {
      fail("id", fmt::format("{} stands in line {} already; give every buffer its own", shown(id),
                             known->second));
    }
    constexpr int64_t kMost = plan::kLargestValue;
    plan::Buffer buffer;
    buffer.lower = number(kLower, -kMost, kMost);
    buffer.upper = number(kUpper, -kMost, kMost);
    buffer.size = number(kSize, 0, kMost);
    buffer.alignment = table_.has_alignment ? number(kAlignment, 1, kMost) : 1;
    if (buffer.upper <= buffer.lower) {
      fail("upper", fmt::format("{} is not above lower {}; a buffer lives from lower up to, not "
                                "including, upper",
                                buffer.upper, buffer.lower));
    }
    if (buffer.size > room_ || buffer.alignment > room_ - buffer.size) {
      fail("size", "all sizes together exceed 2^61 bytes; split the problem");
    }
    room_ -= buffer.size + buffer.alignment;
    table_.ids.emplace_back(id);
    table_.buffers.push_back(buffer);
  }

  [[nodiscard]] int64_t number(Column column, int64_t least, int64_t most) const {
    const std::string_view cell = cells_[at_[column]];
    int64_t value = 0;
    const char* const end = cell.data() + cell.size();
    const auto [rest, error] = std::from_chars(cell.data(), end, value);
    if (error != std::errc() || rest != end || value < least || value > most) {
      fail(kColumns[column], fmt::format("{} is not a whole number from {} to {}; write one",
                                         shown(cell), least, most));
    }
    return value;
  }

  [[noreturn]] void fail(std::string_view field, const std::string& what) const {
    throw Error(file_, fmt::format("line {}, field {}: {}", line_, field, what));
  }

  const std::string& file_;
  std::string_view rest_;
  int64_t line_ = 0;
  std::vector<std::string_view> cells_;          // of the current line
  std::array<size_t, kColumns.size()> at_ = {};  // where each column stands
  size_t width_ = 0;
  int64_t room_ = plan::kLargestValue;                     // for sizes and their padding
  std::unordered_map<std::string_view, int64_t> line_of_;  // by id
  PackTable table_;
};

}  // namespace

PackTable parse_pack_csv(const std::string& file, std::string_view text) {
  return Parser(file, text).parse();
}

std::string to_pack_csv(const PackTable& table, std::span<const int64_t> offsets) {
  std::string text = table.has_alignment ? "id,lower,upper,size,alignment,offset\n"
                                         : "id,lower,upper,size,offset\n";
  for (size_t i = 0; i < table.buffers.size(); ++i) {
    const plan::Buffer& b = table.buffers[i];
    text += fmt::format("{},{},{},{},", table.ids[i], b.lower, b.upper, b.size);
    if (table.has_alignment) text += fmt::format("{},", b.alignment);
    text += fmt::format("{}\n", offsets[i]);
  }
  return text;
}

}  // namespace thimble::io
