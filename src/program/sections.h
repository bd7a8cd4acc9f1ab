// The sections of a program file. Layout: docs/guide/programs.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/bytes.h"

namespace thimble::program {

// The first bytes of a program file.
inline constexpr std::string_view kMagic = "THIMBLE\n";

enum class SectionKind : int64_t {
  training = 1,   // settings and what the data must look like
  constants = 2,  // contents of constants, each of them once
  program = 3,    // a planned step; one section each
};

struct Section {
  SectionKind kind;
  std::vector<std::byte> bytes;
};

// Replaces the file at once (io::AtomicFile). Throws Error on failure.
void write_sections(const std::string& path, std::span<const Section> sections);

// Bytes of a program file, checked: what it is, its version, its size, where its sections lie and
// their checksums.
class Sections {
 public:
  // Throws Error naming file, offset and field.
  [[nodiscard]] static Sections read(const std::string& path);
  // The same from memory; name stands in errors.
  [[nodiscard]] static Sections parse(std::string name, std::string bytes);

  struct Entry {
    SectionKind kind;
    int64_t offset;
    int64_t bytes;
  };
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  // A reader of a section; the object must outlive it.
  [[nodiscard]] ByteReader reader(const Entry& entry) const;

 private:
  Sections() = default;
  std::string name_;
  std::string bytes_;
  std::vector<Entry> entries_;
};

}  // namespace thimble::program
