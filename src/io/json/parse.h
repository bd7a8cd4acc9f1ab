// JSON from outside.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace thimble::io {

// Where a text of JSON stands, for messages.
struct JsonPlace {
  std::string file;
  const char* what = "the text";  // "the header"
  size_t offset = 0;              // of the text's first byte in what messages count bytes of
  const char* counted = "it";     // "the file"
};

// Parses a text. Throws Error naming the file where it is not JSON, is nested deeper than
// max_depth, has a number out of range, or an object has a name twice, which JSON itself allows.
[[nodiscard]] nlohmann::json parse_json(const JsonPlace& place, std::string_view text,
                                        int max_depth);

// A piece of JSON for a message: at most 60 characters, all of them printable.
[[nodiscard]] std::string printable(const nlohmann::json& value);

}  // namespace thimble::io
