#include "data/cifar.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include "data/array.h"

namespace thimble::data {
namespace {

constexpr int kTrainFiles = 5;

std::string find_part(const std::string& dir, const std::string& name) {
  return find_file(name, {dir + "/" + name, dir + "/cifar-10-batches-bin/" + name});
}

}  // namespace

void parse_cifar(const std::string& file, std::span<const std::byte> bytes, CifarRecords& records) {
  if (bytes.empty() || bytes.size() % kCifarRecord != 0) {
    throw Error(file, fmt::format("{} bytes are not whole records of a class and 32x32x3 pixels "
                                  "({} bytes each); the file is cut short, or not of CIFAR-10's "
                                  "binary version",
                                  bytes.size(), kCifarRecord));
  }
  const size_t count = bytes.size() / kCifarRecord;
  records.images.reserve(records.images.size() + count * kCifarImage);
  records.labels.reserve(records.labels.size() + count);
  for (size_t record = 0; record < count; ++record) {
    const size_t offset = record * kCifarRecord;
    const auto label = static_cast<uint8_t>(bytes[offset]);
    if (label >= kCifarClasses) {
      throw Error(file, fmt::format("record {}, offset {}: the class is {}; expected 0..9", record,
                                    offset, label));
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

Dataset cifar10(const std::string& dir, Split split) {
  std::vector<std::string> names = {"test_batch.bin"};
  if (split == Split::train) {
    names.clear();
    for (int i = 1; i <= kTrainFiles; ++i) names.push_back(fmt::format("data_batch_{}.bin", i));
  }
  CifarRecords records;
  for (const std::string& name : names) {
    const std::string path = find_part(dir, name);
    parse_cifar(path, read_file(path), records);
  }
  const auto count = static_cast<int64_t>(records.labels.size());
  return labelled_dataset(dir,
                          make_array(std::move(records.images), {count, kCifarSide, kCifarSide, 3}),
                          "image", dir, make_array(std::move(records.labels), {count}), "label");
}

}  // namespace thimble::data
