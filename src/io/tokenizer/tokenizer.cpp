#include <fmt/format.h>
#include <thimble/error.h>
#include <thimble/tokenizer.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <queue>
#include <unordered_map>

#include "io/atomic_file.h"
#include "io/json/parse.h"
#include "io/tokenizer/split.h"

namespace thimble {

using nlohmann::json;

namespace {

constexpr size_t kMostTokenizerBytes = size_t{1} << 28;
constexpr int32_t kMostTokens = 1 << 20;

// Bytes stand as characters in the vocabulary: printable ones of Latin-1 as themselves, the others,
// in their order, as the characters from 256 on.
struct ByteCharacters {
  std::array<std::string, 256> of_byte;
  std::array<int, 512> byte_of{};  // by code point; -1: none

  ByteCharacters() {
    byte_of.fill(-1);
    uint32_t next = 256;
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const bool is_printable =
          (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
      const uint32_t code = is_printable ? byte : next++;
      byte_of[code] = static_cast<int>(byte);
      std::string& text = of_byte[byte];
      if (code >= 0x80) text += static_cast<char>(0xc0U | code >> 6U);
      text += static_cast<char>(code < 0x80 ? code : 0x80U | (code & 0x3fU));
    }
  }

  // The bytes that a token stands for; false where it has another character.
  [[nodiscard]] bool decode(std::string_view token, std::string& bytes) const {
    for (size_t i = 0; i < token.size(); ++i) {
      auto code = static_cast<uint32_t>(static_cast<uint8_t>(token[i]));
      if (code >= 0x80) {
        if (code >> 5U != 6 || i + 1 == token.size()) return false;
        code = (code & 0x1fU) << 6U | (static_cast<uint8_t>(token[++i]) & 0x3fU);
      }
      if (code >= byte_of.size() || byte_of[code] < 0) return false;
      bytes += static_cast<char>(byte_of[code]);
    }
    return true;
  }
};

const ByteCharacters& byte_characters() {
  static const ByteCharacters characters;
  return characters;
}

struct Added {
  std::string content;
  int32_t id;
};

struct Merge {
  int32_t rank;
  int32_t id;  // of what it makes
};

uint64_t pair_of(int32_t a, int32_t b) {
  return static_cast<uint64_t>(static_cast<uint32_t>(a)) << 32U | static_cast<uint32_t>(b);
}

}  // namespace

struct Tokenizer::Model {
  std::string file;
  io::WordForm form = io::WordForm::gpt2;
  bool leads_with_space = false;  // a text begins with a space, if it has none
  bool ignores_merges = false;    // a word of the vocabulary is one token
  std::array<int32_t, 256> of_byte{};
  std::unordered_map<std::string, int32_t> words;  // by bytes
  std::unordered_map<uint64_t, Merge> merges;
  std::vector<std::string> bytes;        // by token
  std::vector<char> is_special;          // likewise: 2 where there is no such token
  std::vector<Added> added;              // the longest first
  std::array<bool, 256> begins_added{};  // by byte: whether an added token begins so

  Model(std::string name, std::string_view text);
  void add_word(std::string_view word, std::vector<int32_t>& to) const;

 private:
  [[noreturn]] void fail(const std::string& field, const std::string& message) const {
    throw Error(file, field + ": " + message);
  }
  // The field of an object; null where it is left out.
  static const json& field(const json& object, const char* name) {
    static const json none;
    if (!object.is_object()) return none;
    const auto found = object.find(name);
    return found == object.end() ? none : *found;
  }
  static bool is_set(const json& value) {
    return !(value.is_null() || value == false || (value.is_string() && value == ""));
  }
  [[nodiscard]] int32_t token_of(const std::string& where, const json& id) const {
    if (id.is_number_integer() && id >= 0 && id < kMostTokens) return id.get<int32_t>();
    fail(where, fmt::format("expected the number of a token, got {}", io::printable(id)));
  }
  int32_t& slot(int32_t id, std::string text, char special);
  void read_vocabulary(const json& model);
  void read_merges(const json& model);
  void read_added(const json& list);
  void read_words(const json& before);
};

Tokenizer::Model::Model(std::string name, std::string_view text) : file(std::move(name)) {
  const json all = io::parse_json({.file = file}, text, 32);
  if (!all.is_object()) throw Error(file, "is no JSON object");
  const json& model = field(all, "model");
  if (field(model, "type") != "BPE") {
    fail("model.type", fmt::format("expected BPE, got {}", io::printable(field(model, "type"))));
  }
  for (const char* const name_of_field :
       {"continuing_subword_prefix", "end_of_word_suffix", "byte_fallback", "dropout"}) {
    if (!is_set(field(model, name_of_field))) continue;
    fail(std::string("model.") + name_of_field, "thimble has no such tokenizer");
  }
  if (is_set(field(all, "normalizer"))) {
    fail("normalizer", "thimble has none; the tokenizers package of Python has");
  }
  ignores_merges = field(model, "ignore_merges") == true;
  read_words(field(all, "pre_tokenizer"));
  read_vocabulary(model);
  read_merges(model);
  read_added(field(all, "added_tokens"));
}

void Tokenizer::Model::read_words(const json& before) {
  const char* const kForm =
      "thimble knows ByteLevel, and a Sequence of the Split of LLaMA 3 or Qwen2 and a ByteLevel";
  if (field(before, "type") == "ByteLevel") {
    if (field(before, "use_regex") == false) fail("pre_tokenizer.use_regex", kForm);
    leads_with_space = field(before, "add_prefix_space") != false;
    return;
  }
  const json& parts = field(before, "pretokenizers");
  const bool is_pair = field(before, "type") == "Sequence" && parts.is_array() && parts.size() == 2;
  if (!is_pair || field(parts[0], "type") != "Split" || field(parts[1], "type") != "ByteLevel") {
    fail("pre_tokenizer", kForm);
  }
  const json& expression = field(field(parts[0], "pattern"), "Regex");
  const auto found = expression.is_string()
                         ? io::word_form_of(expression.get_ref<const std::string&>())
                         : std::nullopt;
  const bool is_known = found && field(parts[0], "behavior") == "Isolated" &&
                        field(parts[0], "invert") != true && field(parts[1], "use_regex") == false;
  if (!is_known) fail("pre_tokenizer.pretokenizers", kForm);
  form = *found;
  leads_with_space = field(parts[1], "add_prefix_space") == true;
  if (leads_with_space) fail("pre_tokenizer.pretokenizers", kForm);
}

int32_t& Tokenizer::Model::slot(int32_t id, std::string text, char special) {
  const auto at = static_cast<size_t>(id);
  if (at >= bytes.size()) {
    bytes.resize(at + 1);
    is_special.resize(at + 1, 2);
  }
  bytes[at] = std::move(text);
  is_special[at] = special;
  return words[bytes[at]];
}

void Tokenizer::Model::read_vocabulary(const json& model) {
  const json& vocabulary = field(model, "vocab");
  if (!vocabulary.is_object() || vocabulary.empty()) fail("model.vocab", "expected an object");
  for (const auto& [token, id] : vocabulary.items()) {
    std::string text;
    const int32_t number = token_of("model.vocab", id);
    // A token of other characters is never made of bytes; its text is what it stands for.
    if (!byte_characters().decode(token, text)) {
      slot(number, token, 0);
      words.erase(token);
      continue;
    }
    slot(number, text, 0) = number;
  }
  for (int byte = 0; byte < 256; ++byte) {
    const auto found = words.find(std::string(1, static_cast<char>(byte)));
    of_byte[static_cast<size_t>(byte)] = found == words.end() ? -1 : found->second;
  }
}

void Tokenizer::Model::read_merges(const json& model) {
  const json& list = field(model, "merges");
  if (!list.is_array()) fail("model.merges", "expected a list");
  int32_t rank = 0;
  for (const json& merge : list) {
    std::string parts[2];
    if (merge.is_string()) {
      const auto& text = merge.get_ref<const std::string&>();
      const size_t space = text.find(' ');
      parts[0] = text.substr(0, space);
      if (space != std::string::npos) parts[1] = text.substr(space + 1);
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
               merge[1].is_string()) {
      for (size_t i = 0; i < 2; ++i) parts[i] = merge[i].get<std::string>();
    }
    std::string text[3];
    const auto known = [&](size_t i) {
      const auto found = words.find(text[i]);
      return found == words.end() ? -1 : found->second;
    };
    const bool fits = !parts[0].empty() && byte_characters().decode(parts[0], text[0]) &&
                      byte_characters().decode(parts[1], text[1]);
    text[2] = text[0] + text[1];
    if (!fits || known(0) < 0 || known(1) < 0 || known(2) < 0) {
      fail("model.merges", fmt::format("{} does not join two tokens of the vocabulary to a third",
                                       io::printable(merge)));
    }
    merges.emplace(pair_of(known(0), known(1)), Merge{rank++, known(2)});
  }
}

void Tokenizer::Model::read_added(const json& list) {
  if (list.is_null()) return;
  if (!list.is_array()) fail("added_tokens", "expected a list");
  for (const json& token : list) {
    const json& content = field(token, "content");
    if (!content.is_string() || content == "") fail("added_tokens", "expected a content");
    for (const char* const flag : {"lstrip", "rstrip", "single_word"}) {
      if (field(token, flag) == true) {
        fail("added_tokens",
             fmt::format("{} has {}, which thimble has not", io::printable(content), flag));
      }
    }
    const int32_t id = token_of("added_tokens", field(token, "id"));
    const std::string text = content.get<std::string>();
    const auto at = static_cast<size_t>(id);
    const bool is_known = at < bytes.size() && is_special[at] != 2 && bytes[at] == text;
    const bool special = field(token, "special") == true;
    if (!is_known) {
      const bool was_word = words.count(text) > 0;
      slot(id, text, 0);
      if (!was_word) words.erase(text);
    }
    is_special[at] = special ? 1 : 0;
    begins_added[static_cast<uint8_t>(text[0])] = true;
    added.push_back({text, id});
  }
  std::stable_sort(added.begin(), added.end(), [](const Added& a, const Added& b) {
    return a.content.size() > b.content.size();
  });
}

// Joins the pair of the lowest rank, the leftmost of equal ones, until no pair has a merge.
void Tokenizer::Model::add_word(std::string_view word, std::vector<int32_t>& to) const {
  if (ignores_merges) {
    const auto whole = words.find(std::string(word));
    if (whole != words.end()) {
      to.push_back(whole->second);
      return;
    }
  }
  struct Part {
    int32_t id;
    int before, behind;  // -1: none
  };
  std::vector<Part> parts;
  for (const char c : word) {
    const int32_t id = of_byte[static_cast<uint8_t>(c)];
    if (id < 0) continue;  // a byte that the vocabulary lacks has no token
    const int at = static_cast<int>(parts.size());
    parts.push_back({id, at - 1, at + 1});
  }
  if (parts.empty()) return;
  parts.back().behind = -1;
  struct Candidate {
    int32_t rank;
    int left;
    int32_t left_id, right_id, id;
    bool operator<(const Candidate& other) const {  // the least first
      return std::pair(rank, left) > std::pair(other.rank, other.left);
    }
  };
  std::priority_queue<Candidate> candidates;
  const auto part = [&](int at) -> Part& { return parts[static_cast<size_t>(at)]; };
  const auto consider = [&](int left) {
    if (left < 0 || part(left).behind < 0) return;
    const int32_t right = part(part(left).behind).id;
    const auto merge = merges.find(pair_of(part(left).id, right));
    if (merge == merges.end()) return;
    candidates.push({merge->second.rank, left, part(left).id, right, merge->second.id});
  };
  for (int at = 0; at + 1 < static_cast<int>(parts.size()); ++at) consider(at);
  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    Part& left = part(best.left);
    if (left.id != best.left_id || left.behind < 0 || part(left.behind).id != best.right_id) {
      continue;
    }
    Part& right = part(left.behind);
    left.id = best.id;
    right.id = -1;
    left.behind = right.behind;
    if (left.behind >= 0) part(left.behind).before = best.left;
    consider(left.before);
    consider(best.left);
  }
  for (int at = 0; at >= 0; at = part(at).behind) to.push_back(part(at).id);
}

Tokenizer::Tokenizer(const std::string& path)
    : Tokenizer(parse(path, io::read_file(path, kMostTokenizerBytes))) {}

Tokenizer Tokenizer::parse(const std::string& name, std::string_view json) {
  return Tokenizer(std::make_shared<const Model>(name, json));
}

std::vector<int32_t> Tokenizer::encode(std::string_view text) const {
  std::vector<int32_t> tokens;
  const auto add_text = [&](std::string_view part) {
    if (part.empty()) return;
    std::string led;
    if (model_->leads_with_space && part.front() != ' ') {
      led = " " + std::string(part);
      part = led;
    }
    for (const std::string_view word : io::words_of(part, model_->form)) {
      model_->add_word(word, tokens);
    }
  };
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const bool may_begin = model_->begins_added[static_cast<uint8_t>(text[at])];
    auto found = model_->added.end();
    if (may_begin) {
      found = std::find_if(model_->added.begin(), model_->added.end(), [&](const Added& added) {
        return text.substr(at).starts_with(added.content);
      });
    }
    if (found == model_->added.end()) {
      ++at;
      continue;
    }
    add_text(text.substr(begin, at - begin));
    tokens.push_back(found->id);
    at += found->content.size();
    begin = at;
  }
  add_text(text.substr(begin));
  return tokens;
}

std::string Tokenizer::decode(std::span<const int32_t> tokens) const {
  std::string text;
  for (const int32_t token : tokens) {
    const auto at = static_cast<size_t>(token);
    if (token < 0 || at >= model_->bytes.size() || model_->is_special[at] == 2) {
      throw Error(model_->file, fmt::format("has no token {}", token));
    }
    if (model_->is_special[at] == 0) text += model_->bytes[at];
  }
  return text;
}

int64_t Tokenizer::size() const { return static_cast<int64_t>(model_->bytes.size()); }

}  // namespace thimble
