#include "data/cifar.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>

#include "data/array.h"

namespace thimble::data {
namespace {

constexpr int kTrainFiles = 5;

std::string find_part(const std::string& dir, const std::string& name) {
  return find_file(name, {dir + "/" + name, dir + "/cifar-10-batches-bin/" + name});
}

void check_size(const std::string& file, int64_t bytes) {
  if (bytes > 0 && bytes % kCifarRecord == 0) return;
  throw Error(file, fmt::format("{} bytes are not whole records of a class and 32x32x3 pixels "
                                "({} bytes each); the file is cut short, or not of CIFAR-10's "
                                "binary version",
                                bytes, kCifarRecord));
}

}  // namespace

void parse_cifar(const std::string& file, std::span<const std::byte> bytes, CifarRecords& records,
                 size_t first_record) {
  check_size(file, static_cast<int64_t>(bytes.size()));
  const size_t count = bytes.size() / kCifarRecord;
  records.images.reserve(records.images.size() + count * kCifarImage);
  records.labels.reserve(records.labels.size() + count);
  for (size_t record = 0; record < count; ++record) {
    const size_t offset = record * kCifarRecord;
    const auto label = static_cast<uint8_t>(bytes[offset]);
    if (label >= kCifarClasses) {
      throw Error(file, fmt::format("record {}, offset {}: the class is {}; expected 0..9",
                                    first_record + record,
                                    first_record * size_t{kCifarRecord} + offset, label));
    }
    records.labels.push_back(label);
    const std::byte* const planes = bytes.data() + offset + 1;
    for (int64_t pixel = 0; pixel < kCifarPlane; ++pixel) {
      for (int64_t c = 0; c < 3; ++c) {
        records.images.push_back(static_cast<uint8_t>(planes[c * kCifarPlane + pixel]));
      }
    }
  }
}

namespace {

// Some records at a time.
void read_records(const std::string& path, Spill& images, std::vector<uint8_t>& labels) {
  constexpr int64_t kRecords = 16;
  const StoragePtr file = in_file(path);
  check_size(path, file->size());
  std::vector<std::byte> part;
  for (int64_t at = 0; at < file->size(); at += static_cast<int64_t>(part.size())) {
    part.resize(static_cast<size_t>(std::min(file->size() - at, kRecords * kCifarRecord)));
    file->read(at, part);
    CifarRecords records;
    parse_cifar(path, part, records, static_cast<size_t>(at / kCifarRecord));
    images.append(std::as_bytes(std::span(records.images)));
    labels.insert(labels.end(), records.labels.begin(), records.labels.end());
  }
}

}  // namespace

Dataset cifar10(const std::string& dir, Split split) {
  std::vector<std::string> names = {"test_batch.bin"};
  if (split == Split::train) {
    names.clear();
    for (int i = 1; i <= kTrainFiles; ++i) names.push_back(fmt::format("data_batch_{}.bin", i));
  }
  Spill images;
  std::vector<uint8_t> labels;
  for (const std::string& name : names) read_records(find_part(dir, name), images, labels);
  const auto count = static_cast<int64_t>(labels.size());
  return labelled_dataset(dir, {Element::u8, {count, kCifarSide, kCifarSide, 3}, images.finish()},
                          "image", dir, make_array(std::move(labels), {count}), "label");
}

}  // namespace thimble::data
