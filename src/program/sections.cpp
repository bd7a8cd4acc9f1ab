#include "program/sections.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>

#include "io/atomic_file.h"

namespace thimble::program {
namespace {

constexpr int64_t kVersion = 1;
constexpr int64_t kAlignment = 64;
constexpr int64_t kHeaderBytes = 40;  // magic, version, bytes of the file, sections, checksum
constexpr int64_t kEntryBytes = 32;   // kind, offset, bytes, checksum
constexpr int64_t kMostSections = 4096;
constexpr size_t kMostFileBytes = size_t{1} << 32;

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

std::span<const std::byte> part(const std::string& bytes, int64_t first, int64_t count) {
  return std::as_bytes(std::span(bytes))
      .subspan(static_cast<size_t>(first), static_cast<size_t>(count));
}

int64_t as_number(uint64_t value) { return static_cast<int64_t>(value); }

// The checksum of a header and its table stands between the two.
uint64_t table_checksum(std::span<const std::byte> header, std::span<const std::byte> table) {
  ByteWriter both;
  both.raw(header);
  both.raw(table);
  return checksum(both.bytes());
}

}  // namespace

void write_sections(const std::string& path, std::span<const Section> sections) {
  ByteWriter table;
  const auto count = static_cast<int64_t>(sections.size());
  int64_t at = aligned(kHeaderBytes + count * kEntryBytes);
  for (const Section& section : sections) {
    const auto bytes = static_cast<int64_t>(section.bytes.size());
    table.number(static_cast<int64_t>(section.kind));
    table.number(at);
    table.number(bytes);
    table.number(as_number(checksum(section.bytes)));
    at += aligned(bytes);
  }
  ByteWriter header;
  header.raw(std::as_bytes(std::span(kMagic)));
  header.number(kVersion);
  header.number(at);
  header.number(count);
  const uint64_t sum = table_checksum(header.bytes(), table.bytes());
  header.number(as_number(sum));
  header.raw(table.bytes());
  header.align(kAlignment);
  io::AtomicFile file(path);
  file.write(header.bytes());
  for (const Section& section : sections) {
    ByteWriter bytes;
    bytes.raw(section.bytes);
    bytes.align(kAlignment);
    file.write(bytes.bytes());
  }
  file.commit();
}

Sections Sections::read(const std::string& path) {
  return parse(path, io::read_file(path, kMostFileBytes));
}

Sections Sections::parse(std::string name, std::string bytes) {
  Sections made;
  made.name_ = std::move(name);
  made.bytes_ = std::move(bytes);
  const auto size = static_cast<int64_t>(made.bytes_.size());
  if (size < kHeaderBytes || !made.bytes_.starts_with(kMagic)) {
    throw Error(made.name_,
                "is no program file: its first bytes are not those of one; make one "
                "with thimble compile");
  }
  const auto magic = static_cast<int64_t>(kMagic.size());
  ByteReader header(made.name_, part(made.bytes_, magic, kHeaderBytes - magic), magic);
  const int64_t version = header.number("version", INT64_MIN, INT64_MAX);
  if (version != kVersion) {
    throw Error(made.name_, fmt::format("has version {} of the format, this program reads {}; "
                                        "compile it again with the same version of thimble",
                                        version, kVersion));
  }
  const int64_t file_bytes = header.number("bytes of the file", INT64_MIN, INT64_MAX);
  if (file_bytes != size) {
    throw Error(made.name_, fmt::format("has {} bytes, its header says {}; it was cut off or "
                                        "changed: copy or compile it again",
                                        size, file_bytes));
  }
  const int64_t most = std::min(kMostSections, (size - kHeaderBytes) / kEntryBytes);
  const int64_t count = header.number("number of sections", 0, most);
  const auto sum = static_cast<uint64_t>(header.number("checksum", INT64_MIN, INT64_MAX));
  const std::span<const std::byte> table = part(made.bytes_, kHeaderBytes, count * kEntryBytes);
  if (sum != table_checksum(part(made.bytes_, 0, kHeaderBytes - 8), table)) {
    throw Error(made.name_,
                "has a damaged header: its checksum, at byte 32, is another; copy or "
                "compile it again");
  }
  ByteReader entries(made.name_, table, kHeaderBytes);
  for (int64_t i = 0; i < count; ++i) {
    const auto kind = static_cast<SectionKind>(
        entries.number("kind of a section", 1, static_cast<int64_t>(SectionKind::program)));
    const int64_t offset = entries.number("offset of a section", kHeaderBytes, size);
    if (offset % kAlignment != 0) entries.fail("offset of a section", "is not aligned");
    const int64_t bytes = entries.number("bytes of a section", 0, size - offset);
    const auto wanted =
        static_cast<uint64_t>(entries.number("checksum of a section", INT64_MIN, INT64_MAX));
    if (checksum(part(made.bytes_, offset, bytes)) != wanted) {
      throw Error(made.name_, fmt::format("is damaged between bytes {} and {}: the checksum of "
                                          "this section is another; copy or compile it again",
                                          offset, offset + bytes));
    }
    made.entries_.push_back({kind, offset, bytes});
  }
  return made;
}

ByteReader Sections::reader(const Entry& entry) const {
  return {name_, part(bytes_, entry.offset, entry.bytes), entry.offset};
}

}  // namespace thimble::program
