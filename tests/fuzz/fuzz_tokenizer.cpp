// Any bytes as a tokenizer.json and, behind a byte of 0, a text: an Error, or a tokenizer whose
// tokens are tokens of it.
#include <thimble/error.h>
#include <thimble/tokenizer.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "json_mutator.h"

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return thimble::fuzz::mutate_json(data, size, most, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thimble;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t end = bytes.find('\0');
  const std::string_view text = end == std::string_view::npos
                                    ? std::string_view("ab <x> ab\n\xff 12'S")
                                    : bytes.substr(end + 1);
  try {
    const Tokenizer tokenizer = Tokenizer::parse("fuzz", bytes.substr(0, end));
    const std::vector<int32_t> tokens = tokenizer.encode(text);
    for (const int32_t token : tokens) {
      if (token < 0 || token >= tokenizer.size()) std::abort();
    }
    static_cast<void>(tokenizer.decode(tokens));
  } catch (const Error& error) {
    if (std::string(error.where()) != "fuzz") std::abort();  // errors name the file
  }
  return 0;
}
