// CIFAR-10's binary files: records of a class and a colour image, plane after plane.
#pragma once

#include <string>
#include <vector>

#include "data/file.h"

namespace thimble::data {

inline constexpr int64_t kCifarSide = 32;  // pixels
inline constexpr int64_t kCifarPlane = kCifarSide * kCifarSide;
inline constexpr int64_t kCifarImage = 3 * kCifarPlane;  // bytes
inline constexpr int64_t kCifarRecord = 1 + kCifarImage;
inline constexpr int kCifarClasses = 10;

struct CifarRecords {
  std::vector<uint8_t> images;  // [N, 32, 32, 3]
  std::vector<uint8_t> labels;  // [N], 0..9
};

// Adds the records of a file given as its bytes, or as those from one of its records on. Throws
// Error, naming record and offset, if the last record is cut short, there is none, or a class is
// above 9.
void parse_cifar(const std::string& file, std::span<const std::byte> bytes, CifarRecords& records,
                 size_t first_record = 0);

}  // namespace thimble::data
