// Packing problems as text: one buffer a line, id,lower,upper,size.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/pack/pack.h"

namespace thimble::io {

// A packing problem with the names of its buffers.
struct PackTable {
  std::vector<std::string> ids;  // one per buffer, all different
  std::vector<plan::Buffer> buffers;
  bool has_alignment = false;  // the file has that column
};

// Reads a table given as its text; file: its name, for errors. The first line names the columns, in
// any order: id, lower, upper (lifetime, half-open), size (bytes) and, as you like, alignment
// (bytes, 1 by default). A column offset is left out, so that a packed table can be packed again.
// Cells are whole numbers of 64 bits, but id is any text without commas; there are no quotes. Empty
// lines are skipped. The format of the MiniMalloc benchmark.
// Throws Error naming file, line (from 1) and field, and what to do.
[[nodiscard]] PackTable parse_pack_csv(const std::string& file, std::string_view text);

// The same rows, with a column offset: bytes, one per buffer.
[[nodiscard]] std::string to_pack_csv(const PackTable& table, std::span<const int64_t> offsets);

}  // namespace thimble::io
