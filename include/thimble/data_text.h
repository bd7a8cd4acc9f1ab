// Data sets of text: windows of bytes, each with the bytes that follow.
#pragma once

#include <thimble/data.h>

#include <cstdint>
#include <string>

namespace thimble::data {

struct TextOptions {
  int64_t window = 256;  // bytes of a sample
  int64_t stride = 0;    // distance between the starts of two windows; 0: window
};

// Windows of a text, for models that tell the next byte. Any file is a text: bytes are taken as
// they are, 0 to 255. path: a file, or a folder whose files *.txt (or those of its folder text) are
// taken one after another in order of their names. Fields: "tokens" i32 [window], "next" i32
// [window]: the byte that follows each of them, a label. The training set is the first nine tenths
// of the text, the test set the rest, at least one window each; bytes after the last whole window
// of a set are left out. Memory: the bytes of both sets. Throws Error for a text of fewer than
// 2 * (window + 1) bytes, and where nothing can be read.
[[nodiscard]] Dataset text(const std::string& path, const TextOptions& options = {},
                           Split split = Split::train);

// The same for a text in memory.
[[nodiscard]] Dataset text_of(std::string bytes, const TextOptions& options = {},
                              Split split = Split::train);

struct GeneratedText {
  std::string text;
  double nats_per_byte = 0.0;  // entropy of the random choices: no model can have a smaller loss
};

// The built-in text: small stories, sums, lists said backwards, nested brackets and rhymes, about
// English. Names, things and brackets come back later, so that a model has something to remember.
// Every choice can be read off the text, so that the entropy of the text is that of the choices.
// At least `bytes` bytes: ends with the first piece that reaches them. A function of its arguments
// alone, on every platform. Throws Error where bytes is below 1.
[[nodiscard]] GeneratedText generated_text(int64_t bytes, uint64_t seed = 0);

}  // namespace thimble::data
