// Models of one operator with the interpreter's results: tflite_models.json, written by
// scripts/goldens_tflite.py.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "io/atomic_file.h"

namespace thimble::test {

inline nlohmann::json tflite_models() {
  return nlohmann::json::parse(
      io::read_file(THIMBLE_SOURCE_DIR "/tests/import/tflite_models.json", 1 << 20));
}

inline std::vector<char> from_base64(std::string_view text) {
  std::vector<char> bytes;
  uint32_t word = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    const uint32_t digit = c >= 'a'   ? static_cast<uint32_t>(c - 'a') + 26
                           : c >= 'A' ? static_cast<uint32_t>(c - 'A')
                           : c >= '0' ? static_cast<uint32_t>(c - '0') + 52
                           : c == '+' ? 62U
                                      : 63U;
    word = word << 6U | digit;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<char>(word >> static_cast<unsigned>(bits) & 255U));
  }
  return bytes;
}

}  // namespace thimble::test
