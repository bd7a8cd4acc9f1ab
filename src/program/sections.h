// The sections of a program file. Layout: docs/guide/programs.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
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
  model = 4,      // the model's graph as text, and its constants, for checkpoints
  values = 5,     // initial values of parameters and states, one after another
};

struct Section {
  SectionKind kind;
  std::vector<std::byte> bytes;
};

// Replaces the file at once (io::AtomicFile). Throws Error on failure.
void write_sections(const std::string& path, std::span<const Section> sections);

// The sections of a program file, which stay there and are read in parts. What the file is, its
// version, its size and where its sections lie was checked.
class Sections {
 public:
  // Throws Error naming file, offset and field.
  [[nodiscard]] static Sections open(const std::string& path);
  // The same of a file in memory; name stands in errors.
  [[nodiscard]] static Sections parse(std::string name, std::string bytes);

  struct Entry {
    SectionKind kind;
    int64_t offset;
    int64_t bytes;
    uint64_t checksum;
  };
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  // Reads a section; this must outlive the reader. Throws Error where its checksum is another.
  [[nodiscard]] ByteReader reader(const Entry& entry);
  // Reads a section in parts, in order. Throws Error after the last one where its checksum is
  // another.
  void scan(const Entry& entry, const std::function<void(std::span<const std::byte>)>& visit = {});

 private:
  Sections() = default;
  void read_table();
  void read(int64_t offset, std::span<std::byte> to);

  std::string name_;
  int64_t size_ = 0;
  std::string bytes_;                      // of a file in memory
  std::unique_ptr<std::ifstream> stream_;  // of another
  std::vector<Entry> entries_;
};

}  // namespace thimble::program
