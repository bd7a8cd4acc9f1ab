// The words that a text is split into before its bytes are joined to tokens.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thimble::io {

// Which words: those of a regular expression that is known.
enum class WordForm : unsigned char { gpt2, llama3, qwen2 };

// The form of an expression as tokenizer.json has it; none: it is another.
[[nodiscard]] std::optional<WordForm> word_form_of(std::string_view expression);

// The words, one after another; together they are the text.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text, WordForm form);

}  // namespace thimble::io
