// Zip archives (PKWARE's APPNOTE.TXT, with the 64-bit extension), as NumPy writes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/storage.h"

namespace thimble::data {

// Bytes to which all members of one archive together may unpack; more is refused as an attack.
inline constexpr int64_t kMaxZipUnpackedBytes = int64_t{1} << 30;

struct ZipMember {
  std::string name;
  bool is_deflated = false;
  uint32_t crc = 0;
  int64_t packed_bytes = 0;
  int64_t bytes = 0;
  int64_t offset = 0;  // of its bytes in the archive
};

[[nodiscard]] bool is_zip(const Storage& file);

// The members in the order of the directory. Throws Error naming file and offset where it is
// damaged, cut short, encrypted, or packed in another way than stored or deflated.
[[nodiscard]] std::vector<ZipMember> zip_members(const std::string& file, const Storage& archive);

// A member's bytes, checksum verified: those of the archive where they are stored, else unpacked
// and kept as Spill keeps them. Throws Error naming file and member where they are damaged.
[[nodiscard]] StoragePtr unzip(const std::string& file, const StoragePtr& archive,
                               const ZipMember& member);

}  // namespace thimble::data
