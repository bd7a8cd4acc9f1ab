// Structs of kernel parameters: their fields, as the C source has them, and their values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emit/c_library.h"

namespace thimble::emit {

// Bytes of a scalar type of C; 0: it is none. The same on all targets.
[[nodiscard]] int64_t scalar_bytes(const std::string& type);

// Reads structs in the memory format of the host. Not thread-safe.
class CStructs {
 public:
  // library: gets the types that are asked for; must outlive this.
  explicit CStructs(CLibrary& library) : library_(library) {}

  // void, a number, or a type of the C source.
  [[nodiscard]] bool is_known(const std::string& type) {
    return type == "void" || scalar_bytes(type) > 0 || !library_.add_type(type).empty();
  }
  [[nodiscard]] bool is_struct(const std::string& type) { return !layout(type).fields.empty(); }
  [[nodiscard]] int64_t bytes(const std::string& type);
  // Its numbers of type double: name and offset in bytes.
  [[nodiscard]] std::vector<std::pair<std::string, int64_t>> doubles(const std::string& type);
  // "{.n = 8, .h = 28}": zeros are left out, but one. Throws Error where the bytes are too few.
  [[nodiscard]] std::string initializer(const std::string& type, std::span<const std::byte> bytes);
  // The same, and a number as itself.
  [[nodiscard]] std::string element(const std::string& type, std::span<const std::byte> bytes);
  // Macros that C sources may define, so that structs leave out fields under `#if !defined(MACRO)`:
  // those whose fields were zero in all that was written.
  [[nodiscard]] std::vector<std::string> unneeded() const;

 private:
  struct Field {
    std::string type;
    std::string name;
    std::string unless;  // the macro that leaves it out; empty: none does
    int64_t count = 1;   // of elements
    int64_t row = 0;     // elements of a row of an array of arrays; 0: it is none
    bool is_array = false;
    int64_t offset = 0;
  };
  struct Layout {
    std::vector<Field> fields;  // none: no struct
    int64_t bytes = 0;
    int64_t alignment = 1;
  };
  const Layout& layout(const std::string& type);
  [[nodiscard]] Layout parsed(const std::string& type);
  [[nodiscard]] int64_t alignment(const std::string& type);
  [[nodiscard]] int64_t count_of(const std::string& size, const std::string& where);
  std::string array(const std::string& type, std::span<const std::byte> bytes);
  std::string rows(const Field& field, std::span<const std::byte> bytes);

  CLibrary& library_;
  std::map<std::string, Layout> layouts_;
  std::map<std::string, bool> is_needed_;  // of each macro: whether a field was not zero
};

// Whether all bytes are 0.
[[nodiscard]] bool is_all_zero(std::span<const std::byte> bytes);

// A number as C source; exact.
[[nodiscard]] std::string number_text(const std::string& type, std::span<const std::byte> bytes);

}  // namespace thimble::emit
