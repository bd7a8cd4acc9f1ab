// Which program a model file comes from.
#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace thimble::importer {

// A model file in another program's format.
struct Format {
  const char* files;  // what it consists of, for messages: "ONNX: NAME.onnx"
  // Says whether a file is of this format, from its path and its first kBeginning bytes.
  bool (*matches)(const std::string& path, std::string_view beginning);
  Graph (*read)(const std::string& path);  // throws Error
  // Other files that read() opens. Null: none.
  std::vector<std::string> (*companions)(const std::string& path);
  // As read(), with sizes of dimensions that the model leaves open, by their names. Null: it has
  // none with names.
  Graph (*read_with_dims)(const std::string& path,
                          const std::map<std::string, int64_t>& dims) = nullptr;
};
inline constexpr size_t kBeginning = 256;

// The format of a file; the first in the table that matches. Throws Error where the file cannot be
// read; returns null where no format matches.
[[nodiscard]] const Format* format_of(const std::string& path);

// "a quantized network in JSON: ...; ONNX: ...".
[[nodiscard]] std::string known_formats();

}  // namespace thimble::importer
