#include "data/idx.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>

#include "data/file.h"

namespace thimble::data {
namespace {

constexpr int kMaxRank = 8;
constexpr int64_t kLongestHeader = 4 + 4 * kMaxRank;

struct Header {
  Element element;
  Shape shape;
  size_t bytes;  // of the header
  int64_t data_bytes;
};

Element element_of_code(const std::string& file, uint8_t code) {
  switch (code) {
    case 0x08:
      return Element::u8;
    case 0x09:
      return Element::i8;
    case 0x0B:
      return Element::i16;
    case 0x0C:
      return Element::i32;
    case 0x0D:
      return Element::f32;
    case 0x0E:
      return Element::f64;
    default:
      break;
  }
  throw Error(file, fmt::format("element type 0x{:02X} at offset 2 is unknown to IDX; expected 08, "
                                "09, 0B, 0C, 0D or 0E",
                                code));
}

Header parse_header(const std::string& file, std::span<const std::byte> bytes) {
  ByteReader reader(file, bytes);
  if (reader.u8("the magic number") != 0 || reader.u8("the magic number") != 0) {
    throw Error(file, "is no IDX file: the first two bytes are not zero");
  }
  const Element element = element_of_code(file, reader.u8("the element type"));
  const int rank = reader.u8("the number of dimensions");
  if (rank < 1 || rank > kMaxRank) {
    throw Error(file,
                fmt::format("has {} dimensions (offset 3); expected 1 to {}", rank, kMaxRank));
  }
  std::vector<int64_t> dims;
  for (int axis = 0; axis < rank; ++axis) dims.push_back(reader.u32_big("a dimension"));
  const int64_t width = size_bytes(element);
  const int64_t elements = checked_elements(file, dims, INT64_MAX / width);
  return {element, Shape(std::move(dims)), reader.offset(), elements * width};
}

// Unpacks no more than the header inside announces.
StoragePtr unpack(const std::string& file, const Storage& packed) {
  const auto head = gunzip_head(file, packed, size_t{kLongestHeader});
  const Header header = parse_header(file, head);
  if (header.data_bytes > kMaxUnpackedBytes) {
    throw Error(file,
                fmt::format("announces {} bytes, more than the {} a compressed file may hold; "
                            "if that is right, unpack it with gunzip first",
                            header.data_bytes, kMaxUnpackedBytes));
  }
  return gunzip(file, packed, header.bytes + static_cast<size_t>(header.data_bytes));
}

// [N, H, W] is a set of images of one channel.
StoredArray with_channel(StoredArray array) {
  if (array.shape.rank() != 3) return array;
  std::vector<int64_t> dims = array.shape.dims();
  dims.push_back(1);
  array.shape = Shape(std::move(dims));
  return array;
}

}  // namespace

StoredArray parse_idx(const std::string& file, StoragePtr bytes) {
  if (is_gzip(*bytes)) bytes = unpack(file, *bytes);
  std::vector<std::byte> head(
      static_cast<size_t>(std::min<int64_t>(bytes->size(), kLongestHeader)));
  bytes->read(0, head);
  Header header = parse_header(file, head);
  const int64_t there = bytes->size() - static_cast<int64_t>(header.bytes);
  if (there != header.data_bytes) {
    throw Error(file, fmt::format("the header announces {} bytes of elements {}, but {} follow at "
                                  "offset {}; the file is {}",
                                  header.data_bytes, to_string(header.shape), there, header.bytes,
                                  there < header.data_bytes ? "cut short" : "damaged"));
  }
  return array_of_file(std::move(bytes), static_cast<int64_t>(header.bytes), header.element,
                       std::move(header.shape), true);
}

StoredArray parse_idx(const std::string& file, std::vector<std::byte> bytes) {
  return parse_idx(file, in_memory(std::move(bytes)));
}

Dataset idx(const std::string& images_path, const std::string& labels_path) {
  return labelled_dataset(images_path, with_channel(parse_idx(images_path, in_file(images_path))),
                          "image", labels_path, parse_idx(labels_path, in_file(labels_path)),
                          "digit");
}

}  // namespace thimble::data
