// Safetensors files: named tensors after a JSON header. Format: 8 bytes little-endian length of the
// header, the header, the tensors' bytes. Files written here have checksums (checksums.h); every
// reader compares them where a file has any.
#pragma once

#include <thimble/types.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thimble::io {

// How files hold elements: a boolean takes a byte, and so does an i4, which is held as an i8.
[[nodiscard]] DType file_dtype(DType dtype);
[[nodiscard]] int64_t file_bytes(DType dtype, const Shape& shape);
// The elements of a packed type, each in a byte of its own, and back; others as they are. packed
// throws Error, naming `where`, for a byte that is no number of the type.
[[nodiscard]] std::vector<std::byte> unpacked(DType dtype, const Shape& shape,
                                              std::span<const std::byte> bytes);
[[nodiscard]] std::vector<std::byte> packed(const std::string& where, DType dtype,
                                            const Shape& shape, std::span<const std::byte> bytes);

// A tensor in memory that somebody else owns.
struct TensorView {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::span<const std::byte> bytes;  // as in the file: row-major, little endian, none packed
  // Of a tensor that is fetched from elsewhere when it is written: gives its bytes,
  // valid until the next such call; the member bytes is empty then.
  std::function<std::span<const std::byte>()> fetch = {};
};

using Metadata = std::map<std::string, std::string>;

// Replaces the file at once (io::AtomicFile). Throws Error on failure, on a name twice and on
// sizes that do not fit.
void write_safetensors(const std::string& path, std::span<const TensorView> tensors,
                       const Metadata& metadata);

// A file's contents, owned.
class Safetensors {
 public:
  // Says by its name whether a tensor is to be held.
  using Wanted = std::function<bool(std::string_view name)>;
  // Throws Error naming file and field where anything is not as the format says, of tensors that
  // are not wanted too; holds those that are (none given: all) and compares their checksums.
  [[nodiscard]] static Safetensors read(const std::string& path, const Wanted& wanted = {});
  // Holds the header alone: load gets the bytes from the file, which stays open; the views have
  // none. Of what is no regular file all is held.
  [[nodiscard]] static Safetensors open(const std::string& path);
  // The same from memory; name stands in errors.
  [[nodiscard]] static Safetensors parse(std::string name, std::string_view bytes);

  // In the order of their bytes.
  [[nodiscard]] const std::vector<TensorView>& tensors() const { return tensors_; }
  // Without the checksums.
  [[nodiscard]] const Metadata& metadata() const { return metadata_; }
  // Null where there is none of that name.
  [[nodiscard]] const TensorView* find(std::string_view name) const;
  // Bytes of one of tensors(), from offset on; to ends within it. Throws Error where the file
  // cannot be read any more. No checksum is compared.
  void load(const TensorView& tensor, size_t offset, std::span<std::byte> to) const;
  // The bytes of one of tensors() as the file has them, mapped read-only for as long as the owner
  // lives. Null where that is not possible: the file is not open, or they do not lie as their type
  // must.
  struct Mapped {
    std::shared_ptr<const void> owner;
    std::span<const std::byte> bytes;
  };
  [[nodiscard]] Mapped map(const TensorView& tensor) const;
  // Reads all bytes of one of tensors() in parts, each a multiple of 8 bytes but the last and
  // aligned to 8, and compares its checksum. visit may be empty. Throws Error where the sum does
  // not fit, or the file cannot be read any more.
  using Visit = std::function<void(size_t offset, std::span<const std::byte> part)>;
  void scan(const TensorView& tensor, const Visit& visit = {}) const;
  // Throws Error where the entry is missing.
  [[nodiscard]] const std::string& meta(const std::string& key) const;
  [[nodiscard]] const std::string& name() const { return name_; }

  Safetensors(Safetensors&&) = default;
  Safetensors& operator=(Safetensors&&) = default;
  Safetensors(const Safetensors&) = delete;
  Safetensors& operator=(const Safetensors&) = delete;

 private:
  struct Reader;
  Safetensors() = default;
  std::string name_;
  std::vector<char> bytes_;  // not a string: moving must not move the views' bytes
  std::vector<TensorView> tensors_;
  Metadata metadata_;
  std::unique_ptr<std::ifstream> stream_;  // where the bytes stay in the file
  // There, of each tensor.
  struct Place {
    size_t offset;
    std::optional<uint64_t> checksum;
  };
  std::vector<Place> places_;
};

}  // namespace thimble::io
