// Zip archives and .npy files for tests.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

#include "data/test_files.h"

namespace thimble::data::testing {

struct ZipEntry {
  std::string name;
  std::string bytes;
  bool deflated = false;
  bool wide = false;  // sizes and offset in the 64-bit extension
};

inline std::string deflated(const std::string& plain) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, plain.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline std::string zip_of(const std::vector<ZipEntry>& entries, const std::string& comment = "") {
  std::string file;
  std::string directory;
  for (const ZipEntry& entry : entries) {
    const std::string packed = entry.deflated ? deflated(entry.bytes) : entry.bytes;
    const auto crc =
        static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(entry.bytes.data()),
                                    static_cast<uInt>(entry.bytes.size())));
    const auto packed_size = static_cast<uint32_t>(packed.size());
    const auto size = static_cast<uint32_t>(entry.bytes.size());
    const auto offset = static_cast<uint32_t>(file.size());
    const std::string common = little<uint16_t>(0) + little<uint16_t>(entry.deflated ? 8 : 0) +
                               little<uint32_t>(0) + little(crc);
    const auto name_size = static_cast<uint16_t>(entry.name.size());
    const std::string wide_extra = little<uint16_t>(0x7777) + little<uint16_t>(1) +
                                   "x" +  // an extra field of another kind, which is skipped
                                   little<uint16_t>(1) + little<uint16_t>(24) +
                                   little(uint64_t{size}) + little(uint64_t{packed_size}) +
                                   little(uint64_t{offset});
    const std::string extra = entry.wide ? wide_extra : "";
    const auto shown = [&](uint32_t value) { return entry.wide ? UINT32_MAX : value; };
    file += "PK\3\4" + little<uint16_t>(20) + common + little(packed_size) + little(size) +
            little(name_size) + little<uint16_t>(3) + entry.name + "abc" + packed;
    directory += "PK\1\2" + little<uint32_t>(20) + common + little(shown(packed_size)) +
                 little(shown(size)) + little(name_size) +
                 little(static_cast<uint16_t>(extra.size())) + little<uint16_t>(2) +
                 std::string(8, '\0') + little(shown(offset)) + entry.name + extra + "hi";
  }
  const auto count = static_cast<uint16_t>(entries.size());
  const auto begin = static_cast<uint32_t>(file.size());
  return file + directory + "PK\5\6" + std::string(4, '\0') + little(count) + little(count) +
         little(static_cast<uint32_t>(directory.size())) + little(begin) +
         little(static_cast<uint16_t>(comment.size())) + comment;
}

// As numpy.save writes it, without the padding.
inline std::string npy_of(const std::string& descr, const std::string& shape,
                          const std::string& data) {
  const std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + "}\n";
  return std::string("\x93NUMPY\x01\x00", 8) + little(static_cast<uint16_t>(header.size())) +
         header + data;
}

}  // namespace thimble::data::testing
