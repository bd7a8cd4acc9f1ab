// Records of float32: pixels, then a one-hot class.
#pragma once

#include <string>
#include <vector>

#include "data/array.h"

namespace thimble::data {

struct DatRecords {
  std::vector<float> pixels;     // 0..255, record after record
  std::vector<int32_t> classes;  // one per record
};

// The records in a file given as its bytes, or as those from one of its records on. Throws Error,
// naming record and offset, if the last record is cut short, a pixel is outside 0..255 or a class
// is not one-hot.
[[nodiscard]] DatRecords parse_dat(const std::string& file, std::span<const std::byte> bytes,
                                   int64_t pixels, int64_t classes, size_t first_record = 0);

}  // namespace thimble::data
