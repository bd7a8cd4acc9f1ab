#include "import/onnx/external.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "import/beside.h"
#include "io/json/parse.h"

namespace thimble::importer::onnx {
namespace {

// -1: it is no number.
int64_t number_of(const std::string& text) {
  int64_t number = -1;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && at == end ? number : -1;
}

}  // namespace

std::vector<std::byte> read_external(const std::string& model, const std::string& tensor,
                                     const std::map<std::string, std::string>& entries,
                                     int64_t bytes) {
  const auto entry = [&](const char* key) {
    const auto found = entries.find(key);
    return found == entries.end() ? std::string() : found->second;
  };
  const std::string offset = entry("offset");
  const std::string length = entry("length");
  const int64_t from = offset.empty() ? 0 : number_of(offset);
  if (from < 0 || (!length.empty() && number_of(length) != bytes)) {
    throw Error(
        model,
        fmt::format("external data of {}: expected {} bytes at an offset of at least "
                    "0, got an offset of {} and a length of {}",
                    io::printable(tensor), bytes, io::printable(offset), io::printable(length)));
  }
  return read_beside(model, entry("location"), static_cast<uint64_t>(from),
                     static_cast<uint64_t>(bytes));
}

}  // namespace thimble::importer::onnx
