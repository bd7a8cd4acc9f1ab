// Texts as the numbers of tokens, by a tokenizer.json of Hugging Face.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thimble {

// A byte-level BPE tokenizer: a text is split into words, and the bytes of each word are joined,
// pair by pair, in the order of the merges (Sennrich et al., "Neural machine translation of rare
// words with subword units", 2016; Radford et al., 2019). It knows the words of GPT-2, LLaMA 3 and
// Qwen2. Immutable; const functions may be called from several threads.
class Tokenizer {
 public:
  // Throws Error naming the file and the field where it is damaged, or asks for anything else.
  explicit Tokenizer(const std::string& path);
  // The same from memory; name stands in errors.
  [[nodiscard]] static Tokenizer parse(const std::string& name, std::string_view json);

  // The tokens of a text in UTF-8. Where the text has the content of an added token, such as
  // "<|endoftext|>", it becomes that one. No others are added. Bytes that are no UTF-8 count as
  // signs.
  [[nodiscard]] std::vector<int32_t> encode(std::string_view text) const;
  // The text of tokens; special ones are left out. The text of a part of a sequence may begin or
  // end within a character. Throws Error for a number that is no token.
  [[nodiscard]] std::string decode(std::span<const int32_t> tokens) const;

  // One more than the largest number of a token.
  [[nodiscard]] int64_t size() const;

 private:
  struct Model;
  explicit Tokenizer(std::shared_ptr<const Model> model) : model_(std::move(model)) {}
  std::shared_ptr<const Model> model_;
};

}  // namespace thimble
