#include "program/sections.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <cstring>

#include "io/atomic_file.h"

namespace thimble::program {
namespace {

constexpr int64_t kVersion = 7;
constexpr int64_t kAlignment = 64;
constexpr int64_t kHeaderBytes = 40;  // magic, version, bytes of the file, sections, checksum
constexpr int64_t kEntryBytes = 32;   // kind, offset, bytes, checksum
constexpr int64_t kMostSections = 4096;
constexpr int64_t kPart = int64_t{1} << 16;  // bytes that are read at once
constexpr auto kLastKind = static_cast<int64_t>(SectionKind::values);

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

int64_t as_number(uint64_t value) { return static_cast<int64_t>(value); }

// The checksum of a header and its table stands between the two.
uint64_t table_checksum(std::span<const std::byte> header, std::span<const std::byte> table) {
  return checksum(table, checksum(header));
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
  constexpr std::byte kPadding[kAlignment] = {};
  for (const Section& section : sections) {
    const auto bytes = static_cast<int64_t>(section.bytes.size());
    file.write(section.bytes);
    file.write(std::span(kPadding).first(static_cast<size_t>(aligned(bytes) - bytes)));
  }
  file.commit();
}

Sections Sections::open(const std::string& path) {
  Sections made;
  made.name_ = path;
  made.stream_ = std::make_unique<std::ifstream>(path, std::ios::binary | std::ios::ate);
  if (!*made.stream_) throw Error(path, "cannot be opened: no such file, or it may not be read");
  made.size_ = static_cast<int64_t>(made.stream_->tellg());
  made.read_table();
  return made;
}

Sections Sections::parse(std::string name, std::string bytes) {
  Sections made;
  made.name_ = std::move(name);
  made.bytes_ = std::move(bytes);
  made.size_ = static_cast<int64_t>(made.bytes_.size());
  made.read_table();
  return made;
}

void Sections::read(int64_t offset, std::span<std::byte> to) {
  if (to.empty()) return;
  if (!stream_) {
    std::memcpy(to.data(), bytes_.data() + offset, to.size());
    return;
  }
  stream_->seekg(offset);
  stream_->read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size()));
  if (*stream_) return;
  throw Error(name_,
              fmt::format("cannot be read at byte {}; it was changed, or its disk failed", offset));
}

void Sections::read_table() {
  std::vector<std::byte> start(static_cast<size_t>(std::clamp<int64_t>(size_, 0, kHeaderBytes)));
  read(0, start);
  const std::span<const std::byte> magic = std::as_bytes(std::span(kMagic));
  if (size_ < kHeaderBytes || !std::equal(magic.begin(), magic.end(), start.begin())) {
    throw Error(name_,
                "is no program file: its first bytes are not those of one; make one "
                "with thimble compile");
  }
  const auto after_magic = static_cast<int64_t>(kMagic.size());
  ByteReader header(name_, std::span(start).subspan(kMagic.size()), after_magic);
  const int64_t version = header.number("version", INT64_MIN, INT64_MAX);
  if (version != kVersion) {
    const bool is_older = version > 0 && version < kVersion;
    throw Error(name_, fmt::format("was made by {} thimble: it has version {} of the format, and "
                                   "this one reads {}; compile it again",
                                   is_older ? "an older" : "another", version, kVersion));
  }
  const int64_t file_bytes = header.number("bytes of the file", INT64_MIN, INT64_MAX);
  if (file_bytes != size_) {
    throw Error(name_, fmt::format("has {} bytes, its header says {}; it was cut off or "
                                   "changed: copy or compile it again",
                                   size_, file_bytes));
  }
  const int64_t most = std::min(kMostSections, (size_ - kHeaderBytes) / kEntryBytes);
  const int64_t count = header.number("number of sections", 0, most);
  const auto sum = static_cast<uint64_t>(header.number("checksum", INT64_MIN, INT64_MAX));
  std::vector<std::byte> table(static_cast<size_t>(count * kEntryBytes));
  read(kHeaderBytes, table);
  if (sum != table_checksum(std::span(start).first(kHeaderBytes - 8), table)) {
    throw Error(name_,
                "has a damaged header: its checksum, at byte 32, is another; copy or "
                "compile it again");
  }
  ByteReader entries(name_, table, kHeaderBytes);
  for (int64_t i = 0; i < count; ++i) {
    const auto kind = static_cast<SectionKind>(entries.number("kind of a section", 1, kLastKind));
    const int64_t offset = entries.number("offset of a section", kHeaderBytes, size_);
    if (offset % kAlignment != 0) entries.fail("offset of a section", "is not aligned");
    const int64_t bytes = entries.number("bytes of a section", 0, size_ - offset);
    const int64_t wanted = entries.number("checksum of a section", INT64_MIN, INT64_MAX);
    entries_.push_back({kind, offset, bytes, static_cast<uint64_t>(wanted)});
  }
}

void Sections::scan(const Entry& entry,
                    const std::function<void(std::span<const std::byte>)>& visit) {
  std::vector<std::byte> part(static_cast<size_t>(std::min(kPart, entry.bytes)));
  uint64_t sum = kFirstChecksum;
  for (int64_t at = 0; at < entry.bytes; at += kPart) {
    const auto now = std::span(part).first(static_cast<size_t>(std::min(kPart, entry.bytes - at)));
    read(entry.offset + at, now);
    sum = checksum(now, sum);
    if (visit) visit(now);
  }
  if (sum == entry.checksum) return;
  throw Error(name_, fmt::format("is damaged between bytes {} and {}: the checksum of a section is "
                                 "another; copy or compile it again",
                                 entry.offset, entry.offset + entry.bytes));
}

ByteReader Sections::reader(const Entry& entry) {
  scan(entry);
  return {name_, entry.offset, entry.bytes,
          [this](int64_t offset, std::span<std::byte> to) { read(offset, to); }};
}

}  // namespace thimble::program
