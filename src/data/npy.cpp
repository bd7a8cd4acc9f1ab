#include "data/npy.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "data/file.h"
#include "ir/sizes.h"

namespace thimble::data {
namespace {

// Reads the header, a Python dictionary literal with three known keys.
class HeaderParser {
 public:
  HeaderParser(const std::string& file, std::string_view text, size_t file_offset)
      : file_(file), text_(text), file_offset_(file_offset) {}

  struct Header {
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<std::vector<int64_t>> shape;
  };

  Header parse() {
    Header header;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !header.descr) {
        if (peek() == '[') fail("structured types are not supported; save a plain array");
        header.descr = quoted();
      } else if (key == "fortran_order" && !header.fortran_order) {
        header.fortran_order = boolean();
      } else if (key == "shape" && !header.shape) {
        header.shape = tuple();
      } else {
        fail(fmt::format("unknown or repeated key {}", shown(key)));
      }
      if (peek() != '}') expect(',');
    }
    if (peek() != '\0') fail("something follows the dictionary");
    if (!header.descr || !header.fortran_order || !header.shape) {
      fail("one of descr, fortran_order and shape is missing");
    }
    return header;
  }

 private:
  // The next character that is not white space, or 0 at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("expected '{}'", c));
  }
  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("expected a quoted string");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a string does not end");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    peek();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    fail("fortran_order: expected True or False");
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> dims;
    expect('(');
    while (!accept(')')) {
      peek();
      int64_t dim = 0;
      const char* begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), dim);
      if (error != std::errc()) fail("shape: expected a whole number below 2^63");
      at_ += static_cast<size_t>(end - begin);
      accept('L');  // Python 2 wrote long integers so
      dims.push_back(dim);
      if (peek() != ')') expect(',');
    }
    return dims;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(file_, fmt::format("header, offset {}: {}", file_offset_ + at_, what));
  }

  const std::string& file_;
  std::string_view text_;
  size_t file_offset_;
  size_t at_ = 0;
};

struct NpyType {
  Element element;
  bool big_endian;
};

NpyType type_of_descr(const std::string& file, const std::string& descr) {
  struct Known {
    std::string_view code;
    Element element;
  };
  static constexpr std::array<Known, 12> kKnown = {{{"u1", Element::u8},
                                                    {"i1", Element::i8},
                                                    {"b1", Element::boolean},
                                                    {"u2", Element::u16},
                                                    {"i2", Element::i16},
                                                    {"u4", Element::u32},
                                                    {"i4", Element::i32},
                                                    {"u8", Element::u64},
                                                    {"i8", Element::i64},
                                                    {"f2", Element::f16},
                                                    {"f4", Element::f32},
                                                    {"f8", Element::f64}}};
  const char order = descr.empty() ? '\0' : descr[0];
  for (const auto& [code, element] : kKnown) {
    const bool has_order = order == '<' || order == '>' || (code[1] == '1' && order == '|');
    if (has_order && std::string_view(descr).substr(1) == code) return {element, order == '>'};
  }
  throw Error(file,
              fmt::format("element type {} is not supported; expected <f2 <f4 <f8 <i2 <i4 <i8 "
                          "<u2 <u4 <u8 (or with >), |u1 |i1 |b1: convert with "
                          "a.astype('<f4')",
                          shown(descr)));
}

// The bytes of a file up to its elements, fewer where it ends before.
std::vector<std::byte> head_of(const Storage& file) {
  constexpr int64_t kFixed = 12;  // magic string, version, length of the header: 2 or 4 bytes
  std::vector<std::byte> head(static_cast<size_t>(std::min(file.size(), kFixed)));
  file.read(0, head);
  if (file.size() < kFixed) return head;
  const bool is_first_version = head[6] == std::byte{1};
  int64_t length = 0;
  for (size_t i = is_first_version ? 2 : 4; i > 0; --i) {
    length = length << 8 | static_cast<int64_t>(head[7 + i]);
  }
  head.resize(
      static_cast<size_t>(std::min(file.size(), length + (is_first_version ? 10 : kFixed))));
  file.read(0, head);
  return head;
}

}  // namespace

StoredArray parse_npy(const std::string& file, StoragePtr bytes) {
  static constexpr char kMagic[] = "\x93NUMPY";
  const std::vector<std::byte> head = head_of(*bytes);
  ByteReader reader(file, head);
  if (std::memcmp(reader.take(6, "the magic string").data(), kMagic, 6) != 0) {
    throw Error(file, "is no .npy file: it does not begin with \\x93NUMPY");
  }
  const int major = reader.u8("the version");
  const int minor = reader.u8("the version");
  if (major < 1 || major > 3 || minor != 0) {
    throw Error(file,
                fmt::format("version {}.{} is unknown; expected 1.0, 2.0 or 3.0", major, minor));
  }
  const size_t header_bytes = reader.little(major == 1 ? 2 : 4, "the header's length");
  const size_t header_offset = reader.offset();
  const auto text = reader.take(header_bytes, "the header");
  const auto header =
      HeaderParser(file, {reinterpret_cast<const char*>(text.data()), text.size()}, header_offset)
          .parse();
  const auto [element, big_endian] = type_of_descr(file, *header.descr);
  if (header.shape->empty()) throw Error(file, "holds a scalar; expected one row per sample");
  if (header.shape->size() > size_t{ir::kMostRank}) {
    throw Error(file, fmt::format("has {} dimensions; at most {} are read", header.shape->size(),
                                  ir::kMostRank));
  }
  if (*header.fortran_order && header.shape->size() > 1) {
    throw Error(file, "is in Fortran order; save numpy.ascontiguousarray(a)");
  }
  const int64_t width = size_bytes(element);
  const int64_t elements = checked_elements(file, *header.shape, INT64_MAX / width);
  const auto offset = static_cast<int64_t>(reader.offset());
  if (elements * width != bytes->size() - offset) {
    throw Error(file, fmt::format("shape {} needs {} bytes, but {} follow at offset {}",
                                  to_string(Shape(*header.shape)), elements * width,
                                  bytes->size() - offset, offset));
  }
  return array_of_file(std::move(bytes), offset, element, Shape(*header.shape), big_endian);
}

StoredArray parse_npy(const std::string& file, std::vector<std::byte> bytes) {
  return parse_npy(file, in_memory(std::move(bytes)));
}

Dataset npy(const std::string& features_path, const std::string& labels_path) {
  return labelled_dataset(features_path, parse_npy(features_path, in_file(features_path)),
                          "features", labels_path, parse_npy(labels_path, in_file(labels_path)),
                          "label");
}

}  // namespace thimble::data
