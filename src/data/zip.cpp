#include "data/zip.h"

#include <thimble/error.h>

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "data/file.h"

namespace thimble::data {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryEntry = 0x02014b50;
constexpr uint32_t kDirectoryEnd = 0x06054b50;
constexpr uint32_t kWideEnd = 0x06064b50;
constexpr uint32_t kWideLocator = 0x07064b50;
constexpr uint32_t kElsewhere32 = 0xffffffff;  // the value stands in the 64-bit extension
constexpr uint16_t kElsewhere16 = 0xffff;
constexpr int64_t kEndBytes = 22;
constexpr int64_t kLocatorBytes = 20;
constexpr int64_t kWideEndBytes = 56;
constexpr int64_t kLocalBytes = 30;
constexpr int64_t kLargestDirectory = 16 << 20;
constexpr size_t kZipPart = size_t{16} << 10;

// Fields of a header, little-endian.
class ZipFields {
 public:
  ZipFields(const std::string& file, std::span<const std::byte> bytes, int64_t offset)
      : file_(file), reader_(file, bytes), offset_(offset) {}

  uint16_t u16(const char* field) { return static_cast<uint16_t>(reader_.little(2, field)); }
  uint32_t u32(const char* field) { return reader_.little(4, field); }
  int64_t i64(const char* field) {
    const uint64_t low = reader_.little(4, field);
    const uint64_t value = low | static_cast<uint64_t>(reader_.little(4, field)) << 32;
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) fail(field);
    return static_cast<int64_t>(value);
  }
  std::span<const std::byte> take(size_t count, const char* field) {
    return reader_.take(count, field);
  }
  void expect(uint32_t signature, const char* field) {
    if (u32(field) != signature) fail(field);
  }
  [[nodiscard]] size_t remaining() const { return reader_.remaining(); }
  [[noreturn]] void fail(const char* field) const {
    throw Error(file_, fmt::format("the zip archive is damaged: {} before offset {} is wrong",
                                   field, offset_ + static_cast<int64_t>(reader_.offset())));
  }

 private:
  const std::string& file_;
  ByteReader reader_;
  int64_t offset_;  // of the bytes in the file
};

std::vector<std::byte> bytes_at(const Storage& archive, int64_t offset, int64_t count) {
  std::vector<std::byte> bytes(static_cast<size_t>(count));
  archive.read(offset, bytes);
  return bytes;
}

struct ZipDirectory {
  int64_t entries;
  int64_t offset;
  int64_t bytes;
};

// The record at the end of the archive that says where the directory lies: before a comment of any
// length.
int64_t find_end_record(const std::string& file, const Storage& archive) {
  const int64_t longest = std::min<int64_t>(archive.size(), kEndBytes + kElsewhere16);
  const int64_t begin = archive.size() - longest;
  const std::vector<std::byte> tail = bytes_at(archive, begin, longest);
  for (int64_t at = longest - kEndBytes; at >= 0; --at) {
    ZipFields fields(file, std::span(tail).subspan(static_cast<size_t>(at)), begin + at);
    if (fields.u32("the end record") != kDirectoryEnd) continue;
    static_cast<void>(fields.take(16, "the end record"));
    if (fields.u16("the comment's length") == longest - at - kEndBytes) return begin + at;
  }
  throw Error(file, "is no zip archive, or cut short: the record at its end is missing");
}

ZipDirectory find_directory(const std::string& file, const Storage& archive) {
  const int64_t end = find_end_record(file, archive);
  const std::vector<std::byte> bytes = bytes_at(archive, end, kEndBytes);
  ZipFields fields(file, bytes, end);
  fields.expect(kDirectoryEnd, "the end record");
  if (fields.u32("the disk numbers") != 0) fields.fail("the number of disks");
  static_cast<void>(fields.u16("the number of entries"));
  ZipDirectory directory{fields.u16("the number of entries"), 0, 0};
  directory.bytes = fields.u32("the directory's size");
  directory.offset = fields.u32("the directory's offset");
  int64_t limit = end;
  const bool is_wide = directory.entries == kElsewhere16 || directory.bytes == kElsewhere32 ||
                       directory.offset == kElsewhere32;
  if (is_wide && end >= kLocatorBytes) {
    const std::vector<std::byte> locator = bytes_at(archive, end - kLocatorBytes, kLocatorBytes);
    ZipFields where(file, locator, end - kLocatorBytes);
    where.expect(kWideLocator, "the 64-bit locator");
    static_cast<void>(where.u32("the disk number"));
    limit = where.i64("the 64-bit record's offset");
    if (limit > end - kLocatorBytes - kWideEndBytes) where.fail("the 64-bit record's offset");
    const std::vector<std::byte> record = bytes_at(archive, limit, kWideEndBytes);
    ZipFields wide(file, record, limit);
    wide.expect(kWideEnd, "the 64-bit record");
    static_cast<void>(wide.take(28, "the 64-bit record"));
    directory.entries = wide.i64("the number of entries");
    directory.bytes = wide.i64("the directory's size");
    directory.offset = wide.i64("the directory's offset");
  }
  if (directory.offset > limit || directory.bytes > limit - directory.offset ||
      directory.bytes > kLargestDirectory) {
    throw Error(file, fmt::format("the zip archive is damaged: its directory of {} bytes at offset "
                                  "{} does not end before offset {}, or is larger than {} bytes",
                                  directory.bytes, directory.offset, limit, kLargestDirectory));
  }
  return directory;
}

// Sizes and offset from the 64-bit extension, those that the entry itself leaves to it.
void read_wide(ZipFields& extra, ZipMember& member) {
  while (extra.remaining() >= 4) {
    const uint16_t id = extra.u16("an extra field");
    const uint16_t length = extra.u16("an extra field's length");
    if (id != 1) {
      static_cast<void>(extra.take(length, "an extra field"));
      continue;
    }
    if (member.bytes == kElsewhere32) member.bytes = extra.i64("a member's size");
    if (member.packed_bytes == kElsewhere32) member.packed_bytes = extra.i64("a member's size");
    if (member.offset == kElsewhere32) member.offset = extra.i64("a member's offset");
    return;
  }
}

ZipMember read_entry(const std::string& file, ZipFields& fields, int64_t directory_offset) {
  ZipMember member;
  fields.expect(kDirectoryEntry, "a directory entry");
  static_cast<void>(fields.u32("the versions"));
  const uint16_t flags = fields.u16("the flags");
  const uint16_t method = fields.u16("the method");
  static_cast<void>(fields.u32("the time"));
  member.crc = fields.u32("the checksum");
  member.packed_bytes = fields.u32("a member's size");
  member.bytes = fields.u32("a member's size");
  const uint16_t name = fields.u16("a name's length");
  const uint16_t extra = fields.u16("an extra field's length");
  const uint16_t comment = fields.u16("a comment's length");
  static_cast<void>(fields.take(8, "the attributes"));
  member.offset = fields.u32("a member's offset");
  const auto text = fields.take(name, "a member's name");
  member.name.assign(reinterpret_cast<const char*>(text.data()), text.size());
  ZipFields wide(file, fields.take(extra, "an extra field"), directory_offset);
  read_wide(wide, member);
  static_cast<void>(fields.take(comment, "a comment"));
  member.is_deflated = method == Z_DEFLATED;
  if ((flags & 1) != 0 || (method != 0 && method != Z_DEFLATED)) {
    throw Error(file, fmt::format("member {} is {}; save it with numpy.savez or "
                                  "numpy.savez_compressed",
                                  shown(member.name),
                                  (flags & 1) != 0 ? "encrypted" : "packed in an unknown way"));
  }
  return member;
}

// Finds the member's bytes behind its own header, whose name and extra field have lengths of their
// own, and checks the sizes.
void place_member(const std::string& file, const Storage& archive, int64_t limit,
                  ZipMember& member) {
  constexpr int64_t kMostTimes = 1040;  // deflate packs no better: 258 bytes in two bits
  const auto fail = [&](const char* what) {
    throw Error(file,
                fmt::format("member {}: {}; the zip archive is damaged", shown(member.name), what));
  };
  if (member.offset > limit - kLocalBytes) fail("its offset lies outside the archive");
  const std::vector<std::byte> header = bytes_at(archive, member.offset, kLocalBytes);
  ZipFields fields(file, header, member.offset);
  fields.expect(kLocalHeader, "a member's header");
  static_cast<void>(fields.take(22, "a member's header"));
  const int64_t name = fields.u16("a name's length");
  const int64_t extra = fields.u16("an extra field's length");
  member.offset += kLocalBytes + name + extra;
  if (member.offset > limit || member.packed_bytes > limit - member.offset) {
    fail("its bytes lie outside the archive");
  }
  if (!member.is_deflated && member.bytes != member.packed_bytes) fail("it has two sizes");
  if (member.is_deflated && member.bytes / kMostTimes > member.packed_bytes) {
    fail("it cannot unpack to the size it announces");
  }
}

// Unpacks one member; uses it whole.
class MemberInflater {
 public:
  MemberInflater(const std::string& where, const Storage& archive, const ZipMember& member)
      : where_(where), archive_(archive), member_(member) {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw Error(where, "zlib cannot start");
  }
  ~MemberInflater() { inflateEnd(&stream_); }
  MemberInflater(const MemberInflater&) = delete;
  MemberInflater& operator=(const MemberInflater&) = delete;

  StoragePtr unpack() {
    Spill spill;
    std::byte part[kZipPart];
    int status = Z_OK;
    while (status != Z_STREAM_END) {
      if (stream_.avail_in == 0) refill();
      stream_.next_out = reinterpret_cast<Bytef*>(part);
      stream_.avail_out = kZipPart;
      status = inflate(&stream_, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END) fail("its compressed data are damaged");
      const size_t count = kZipPart - stream_.avail_out;
      if (spill.size() + static_cast<int64_t>(count) > member_.bytes) {
        fail("it unpacks to more than it announces");
      }
      crc_ = crc32(crc_, reinterpret_cast<const Bytef*>(part), static_cast<uInt>(count));
      spill.append({part, count});
    }
    if (spill.size() != member_.bytes) fail("it unpacks to less than it announces");
    if (crc_ != member_.crc) fail("its checksum is wrong");
    return spill.finish();
  }

 private:
  void refill() {
    const auto count =
        static_cast<size_t>(std::min<int64_t>(member_.packed_bytes - fetched_, kZipPart));
    if (count == 0) fail("its compressed data end too early");
    archive_.read(member_.offset + fetched_, {packed_, count});
    fetched_ += static_cast<int64_t>(count);
    stream_.next_in = reinterpret_cast<Bytef*>(packed_);
    stream_.avail_in = static_cast<uInt>(count);
  }
  [[noreturn]] void fail(const char* what) const {
    throw Error(where_, fmt::format("{}; the file is damaged", what));
  }

  const std::string& where_;
  const Storage& archive_;
  const ZipMember& member_;
  int64_t fetched_ = 0;
  uLong crc_ = 0;
  z_stream stream_{};
  std::byte packed_[kZipPart];
};

}  // namespace

bool is_zip(const Storage& file) {
  std::byte magic[4];
  if (file.size() < kEndBytes) return false;
  file.read(0, magic);
  uint32_t signature = 0;
  for (int i = 3; i >= 0; --i) signature = signature << 8 | static_cast<uint32_t>(magic[i]);
  return signature == kLocalHeader || signature == kDirectoryEnd;
}

std::vector<ZipMember> zip_members(const std::string& file, const Storage& archive) {
  const ZipDirectory directory = find_directory(file, archive);
  const std::vector<std::byte> bytes = bytes_at(archive, directory.offset, directory.bytes);
  ZipFields fields(file, bytes, directory.offset);
  std::vector<ZipMember> members;
  int64_t unpacked = 0;
  for (int64_t entry = 0; entry < directory.entries; ++entry) {  // each takes 46 bytes or fails
    members.push_back(read_entry(file, fields, directory.offset));
    place_member(file, archive, directory.offset, members.back());
    if (members.back().is_deflated)
      unpacked += std::min(members.back().bytes, kMaxZipUnpackedBytes);
    if (unpacked > kMaxZipUnpackedBytes) {
      throw Error(file, fmt::format("unpacks to more than the {} bytes a compressed archive may "
                                    "hold; if that is right, save it with numpy.savez",
                                    kMaxZipUnpackedBytes));
    }
  }
  return members;
}

StoragePtr unzip(const std::string& file, const StoragePtr& archive, const ZipMember& member) {
  const std::string where = fmt::format("{}: {}", file, member.name);
  if (member.is_deflated) return MemberInflater(where, *archive, member).unpack();
  std::byte part[kZipPart];
  uLong crc = 0;
  for (int64_t at = 0; at < member.bytes;) {
    const auto count = static_cast<size_t>(std::min<int64_t>(member.bytes - at, kZipPart));
    archive->read(member.offset + at, {part, count});
    crc = crc32(crc, reinterpret_cast<const Bytef*>(part), static_cast<uInt>(count));
    at += static_cast<int64_t>(count);
  }
  if (crc != member.crc) throw Error(where, "its checksum is wrong; the file is damaged");
  return part_of(archive, member.offset, member.bytes);
}

}  // namespace thimble::data
