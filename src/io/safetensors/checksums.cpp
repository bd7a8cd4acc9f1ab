#include "io/safetensors/checksums.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <thimble/error.h>

#include <charconv>

#include "io/xxh64.h"

namespace thimble::io {
namespace {

constexpr const char* kRemedy =
    "take another copy of the file; if a program changed it on purpose, let it leave out the "
    "metadata checksum_of_header and checksums_of_tensors";

// Where the digits of the header's sum begin, or npos. Inside a text the quotes would be escaped.
size_t digits_at(std::string_view header) {
  const std::string key = fmt::format("\"{}\":\"", kHeaderChecksum);
  const size_t at = header.find(key);
  if (at == std::string_view::npos) return at;
  const size_t begin = at + key.size();
  return begin + kChecksumDigits <= header.size() ? begin : std::string_view::npos;
}

// Of the header with zeros for the digits that begin there.
std::string sum_of_header(std::string_view header, size_t digits) {
  const auto bytes = std::as_bytes(std::span(header));
  const std::string zeros(kChecksumDigits, '0');
  Xxh64 sum;
  sum.update(bytes.first(digits));
  sum.update(std::as_bytes(std::span(zeros)));
  sum.update(bytes.subspan(digits + kChecksumDigits));
  return sum.hex();
}

// "0123456789abcdef 0123456789abcdef ..."
TensorChecksums parsed(const std::string& file, std::string_view text) {
  TensorChecksums sums;
  for (size_t at = 0; at < text.size(); at += kChecksumDigits + 1) {
    const char* const begin = text.data() + at;
    const char* const end = begin + kChecksumDigits;
    uint64_t sum = 0;
    const bool is_whole = text.size() - at == kChecksumDigits ||
                          (text.size() - at > kChecksumDigits + 1 && *end == ' ');
    const auto read = is_whole ? std::from_chars(begin, end, sum, 16) : std::from_chars_result{};
    if (!is_whole || read.ec != std::errc() || read.ptr != end) {
      throw Error(file, fmt::format("metadata {}: expected numbers of {} hexadecimal digits; {}",
                                    kTensorChecksums, kChecksumDigits, kRemedy));
    }
    sums.push_back(sum);
  }
  return sums;
}

}  // namespace

void add_checksums(Metadata& metadata, const TensorChecksums& sums) {
  metadata[kHeaderChecksum] = std::string(kChecksumDigits, '0');
  metadata[kTensorChecksums] = fmt::format("{:016x}", fmt::join(sums, " "));
}

void seal_header(std::string& header) {
  const size_t digits = digits_at(header);
  header.replace(digits, kChecksumDigits, sum_of_header(header, digits));
}

std::optional<TensorChecksums> take_checksums(const std::string& file, std::string_view header,
                                              Metadata& metadata) {
  const auto of_header = metadata.find(kHeaderChecksum);
  const auto of_tensors = metadata.find(kTensorChecksums);
  if (of_header == metadata.end() && of_tensors == metadata.end()) return std::nullopt;
  // A name that lost a bit must not make a file one without checksums.
  if (of_header == metadata.end() || of_tensors == metadata.end()) {
    throw Error(file, fmt::format("the header is damaged: of its metadata {} is missing; {}",
                                  of_header == metadata.end() ? kHeaderChecksum : kTensorChecksums,
                                  kRemedy));
  }
  const size_t digits = digits_at(header);
  const std::string found =
      digits == std::string_view::npos ? "elsewhere" : sum_of_header(header, digits);
  if (found != of_header->second) {
    throw Error(file, fmt::format("the header is damaged: its checksum is {}, that of its bytes "
                                  "{}; {}",
                                  of_header->second.substr(0, kChecksumDigits), found, kRemedy));
  }
  TensorChecksums sums = parsed(file, of_tensors->second);
  metadata.erase(kHeaderChecksum);
  metadata.erase(kTensorChecksums);
  return sums;
}

void compare_checksum(const std::string& file, const std::string& tensor, uint64_t wanted,
                      uint64_t found) {
  if (wanted == found) return;
  throw Error(file, fmt::format("the tensor {} is damaged: its checksum is {:016x}, that of its "
                                "bytes {:016x}; {}",
                                tensor, wanted, found, kRemedy));
}

}  // namespace thimble::io
