#include "io/tokenizer/split.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "io/tokenizer/unicode_classes.h"

namespace thimble::io {
namespace {

constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

enum class Kind : uint8_t { letter, number, space, other };

struct Character {
  uint32_t code;
  size_t begin;  // its first byte
  Kind kind;
};

template <size_t count>
bool is_in(const CodeRange (&ranges)[count], uint32_t code) {
  const CodeRange* const found =
      std::upper_bound(std::begin(ranges), std::end(ranges), code,
                       [](uint32_t c, const CodeRange& range) { return c < range.first; });
  return found != std::begin(ranges) && code <= std::prev(found)->last;
}

bool is_space(uint32_t c) {
  return (c >= 9 && c <= 13) || c == 32 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

Kind kind_of(uint32_t c) {
  if (is_space(c)) return Kind::space;
  if (is_in(kLetters, c)) return Kind::letter;
  return is_in(kNumbers, c) ? Kind::number : Kind::other;
}

// The code point at a byte, and how many bytes it has. A byte that begins none is one by itself.
std::pair<uint32_t, size_t> code_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[at + i]); };
  const uint8_t first = byte(0);
  const size_t length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : 4;
  if (first < 0x80 || (first >> 3 != 30 && length == 4) || at + length > text.size()) {
    return {first < 0x80 ? first : 0xfffd, 1};
  }
  uint32_t code = first & (0x7FU >> length);
  for (size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 2) return {0xfffd, 1};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  return {code, length};
}

class Splitting {
 public:
  Splitting(std::string_view text, WordForm form) : text_(text), form_(form) {
    for (size_t at = 0; at < text.size();) {
      const auto [code, length] = code_at(text, at);
      all_.push_back({code, at, kind_of(code)});
      at += length;
    }
  }

  std::vector<std::string_view> run() const {
    std::vector<std::string_view> words;
    for (size_t at = 0; at < all_.size();) {
      const size_t end = form_ == WordForm::gpt2 ? gpt2(at) : later(at);
      words.push_back(text_.substr(byte(at), byte(end) - byte(at)));
      at = end;
    }
    return words;
  }

 private:
  [[nodiscard]] size_t byte(size_t at) const {
    return at < all_.size() ? all_[at].begin : text_.size();
  }
  [[nodiscard]] bool is(size_t at, Kind kind) const {
    return at < all_.size() && all_[at].kind == kind;
  }
  [[nodiscard]] bool is_code(size_t at, uint32_t code) const {
    return at < all_.size() && all_[at].code == code;
  }
  [[nodiscard]] bool is_line_end(size_t at) const { return is_code(at, '\r') || is_code(at, '\n'); }
  // The first place from `at` on that is of another kind.
  [[nodiscard]] size_t run_of(Kind kind, size_t at) const {
    while (is(at, kind)) ++at;
    return at;
  }

  // The end of 's, 't, 're ... at a place; `at` itself: there is none.
  [[nodiscard]] size_t contraction(size_t at, bool any_case) const {
    if (!is_code(at, '\'')) return at;
    for (const std::string_view end : {"s", "t", "re", "ve", "m", "ll", "d"}) {
      bool fits = true;
      for (size_t i = 0; i < end.size(); ++i) {
        const auto wanted = static_cast<uint32_t>(end[i]);
        const bool is_long_s = any_case && wanted == 's' && is_code(at + 1 + i, 0x17f);
        fits = fits && (is_code(at + 1 + i, wanted) || is_long_s ||
                        (any_case && is_code(at + 1 + i, wanted - 32)));
      }
      if (fits) return at + 1 + end.size();
    }
    return at;
  }

  // \s+(?!\S)|\s+: spaces before a word leave it the last one.
  [[nodiscard]] size_t spaces(size_t at) const {
    const size_t end = run_of(Kind::space, at);
    return end < all_.size() && end - at > 1 ? end - 1 : end;
  }

  [[nodiscard]] size_t gpt2(size_t at) const {
    if (const size_t end = contraction(at, false); end > at) return end;
    const size_t word = is_code(at, ' ') ? at + 1 : at;
    for (const Kind kind : {Kind::letter, Kind::number, Kind::other}) {
      if (is(word, kind)) return run_of(kind, word);
    }
    return spaces(at);
  }

  [[nodiscard]] size_t later(size_t at) const {
    if (const size_t end = contraction(at, true); end > at) return end;
    const bool may_lead = !is_line_end(at) && !is(at, Kind::letter) && !is(at, Kind::number);
    const size_t word = may_lead ? at + 1 : at;
    if (is(word, Kind::letter)) return run_of(Kind::letter, word);
    if (is(at, Kind::number)) {
      const size_t most = form_ == WordForm::llama3 ? 3 : 1;
      return std::min(run_of(Kind::number, at), at + most);
    }
    const size_t sign = is_code(at, ' ') ? at + 1 : at;
    if (is(sign, Kind::other)) {
      size_t end = run_of(Kind::other, sign);
      while (is_line_end(end)) ++end;
      return end;
    }
    // \s*[\r\n]+: up to the last line end among the spaces.
    const size_t end = run_of(Kind::space, at);
    for (size_t last = end; last > at; --last) {
      if (is_line_end(last - 1)) return last;
    }
    return spaces(at);
  }

  std::string_view text_;
  WordForm form_;
  std::vector<Character> all_;
};

}  // namespace

std::optional<WordForm> word_form_of(std::string_view expression) {
  if (expression == kGpt2) return WordForm::gpt2;
  if (expression == kLlama3) return WordForm::llama3;
  if (expression == kQwen2) return WordForm::qwen2;
  return std::nullopt;
}

std::vector<std::string_view> words_of(std::string_view text, WordForm form) {
  return Splitting(text, form).run();
}

}  // namespace thimble::io
