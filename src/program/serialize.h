// Programs and constants as bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "program/bytes.h"
#include "program/program.h"

namespace thimble::program {

// The contents of constants, each of them once, by numbers.
class ConstantPool {
 public:
  // The number of these contents.
  int64_t add(const std::shared_ptr<const std::byte>& contents, int64_t bytes);
  void write(ByteWriter& to) const;

 private:
  struct Entry {
    std::shared_ptr<const std::byte> contents;
    int64_t bytes;
  };
  std::vector<Entry> entries_;
  std::unordered_map<std::string_view, int64_t> numbers_;  // by contents
};

// A constant as a file has it.
struct PooledConstant {
  std::shared_ptr<const std::byte> contents;  // 64-byte aligned
  int64_t bytes = 0;
};

// Copies them; make gives zeroed memory of at least so many bytes, aligned to 64. Throws Error.
[[nodiscard]] std::vector<PooledConstant> read_constants(
    ByteReader& from, std::shared_ptr<std::byte> (*make)(int64_t bytes));

void write_program(const Program& program, ConstantPool& pool, ByteWriter& to);

// A program that may run: error_of finds nothing. Throws Error naming file, offset and field.
[[nodiscard]] Program read_program(ByteReader& from, const std::vector<PooledConstant>& pool);

}  // namespace thimble::program
