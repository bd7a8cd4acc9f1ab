#include "data/dat.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include <bit>

#include "data/file.h"

namespace thimble::data {
namespace {

float little_f32(std::span<const std::byte> bytes, size_t offset) {
  uint32_t bits = 0;
  for (unsigned i = 0; i < 4; ++i) bits |= static_cast<uint32_t>(bytes[offset + i]) << 8 * i;
  return std::bit_cast<float>(bits);
}

int32_t class_of(const std::string& file, std::span<const float> one_hot, size_t record,
                 size_t offset) {
  int32_t found = -1;
  for (size_t k = 0; k < one_hot.size(); ++k) {
    if (one_hot[k] == 0) continue;
    if (one_hot[k] != 1 || found >= 0) {
      throw Error(file, fmt::format("record {}, offset {}: the class is not one-hot", record,
                                    offset + 4 * k));
    }
    found = static_cast<int32_t>(k);
  }
  if (found < 0) {
    throw Error(file, fmt::format("record {}, offset {}: no class is set", record, offset));
  }
  return found;
}

// Where in the file a part of it begins.
struct Place {
  size_t record;
  size_t offset;
};

// The bytes of a record.
size_t checked_record(const std::string& file, size_t bytes, int64_t pixels, int64_t classes) {
  if (pixels < 1 || classes < 1) throw Error(file, "records need a pixel and a class");
  const auto record_bytes = 4 * static_cast<size_t>(pixels + classes);
  if (bytes > 0 && bytes % record_bytes == 0) return record_bytes;
  throw Error(file, fmt::format("{} bytes are not whole records of {} pixels and {} classes ({} "
                                "bytes each); the file is cut short or of another shape",
                                bytes, pixels, classes, record_bytes));
}

}  // namespace

DatRecords parse_dat(const std::string& file, std::span<const std::byte> bytes, int64_t pixels,
                     int64_t classes, size_t first_record) {
  const size_t record_bytes = checked_record(file, bytes.size(), pixels, classes);
  const size_t records = bytes.size() / record_bytes;
  DatRecords result;
  result.pixels.reserve(records * static_cast<size_t>(pixels));
  result.classes.reserve(records);
  std::vector<float> one_hot(static_cast<size_t>(classes));
  for (size_t record = 0; record < records; ++record) {
    size_t offset = record * record_bytes;
    const Place place{first_record + record, first_record * record_bytes};
    for (int64_t i = 0; i < pixels; ++i, offset += 4) {
      const float value = little_f32(bytes, offset);
      if (!(value >= 0 && value <= 255)) {
        throw Error(file, fmt::format("record {}, offset {}: pixel {} is {}; expected 0..255",
                                      place.record, place.offset + offset, i, value));
      }
      result.pixels.push_back(value);
    }
    for (size_t k = 0; k < one_hot.size(); ++k) one_hot[k] = little_f32(bytes, offset + 4 * k);
    result.classes.push_back(class_of(file, one_hot, place.record, place.offset + offset));
  }
  return result;
}

Dataset dat_records(const std::string& path, const Shape& image, int classes) {
  const int64_t pixels = checked_elements(path, image.dims(), int64_t{1} << 40);
  const StoragePtr file = in_file(path);
  const auto size = static_cast<size_t>(file->size());
  const size_t record_bytes = checked_record(path, size, pixels, classes);
  Spill all;
  std::vector<int32_t> numbers;
  std::vector<std::byte> record(record_bytes);
  for (size_t at = 0; at < size; at += record_bytes) {
    file->read(static_cast<int64_t>(at), record);
    const DatRecords one = parse_dat(path, record, pixels, classes, at / record_bytes);
    all.append(std::as_bytes(std::span(one.pixels)));
    numbers.push_back(one.classes[0]);
  }
  const auto count = static_cast<int64_t>(numbers.size());
  std::vector<int64_t> dims = image.dims();
  dims.insert(dims.begin(), count);
  std::vector<Column> columns;
  columns.push_back(
      {{"image", image, DType::f32}, {Element::f32, Shape(std::move(dims)), all.finish()}, 255});
  columns.push_back({{"digit", {}, DType::i32, true}, make_array(std::move(numbers), {count})});
  return array_dataset(std::move(columns));
}

}  // namespace thimble::data
