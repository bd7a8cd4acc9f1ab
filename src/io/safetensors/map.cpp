#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/safetensors/safetensors.h"

namespace thimble::io {

Safetensors::Mapped Safetensors::map(const TensorView& tensor) const {
  if (stream_ == nullptr) return {};
  const size_t at = places_[static_cast<size_t>(&tensor - tensors_.data())].offset;
  const auto count = static_cast<size_t>(file_bytes(tensor.dtype, tensor.shape));
  const auto element = static_cast<size_t>(is_packed(tensor.dtype) ? 1 : bits(tensor.dtype) / 8);
  if (count == 0 || at % element != 0) return {};
  const int file = ::open(name_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t before = at % page;
  // A file that has become shorter would end the process at the first read behind its end.
  const bool is_whole = static_cast<size_t>(::lseek(file, 0, SEEK_END)) >= at + count;
  void* const begin = is_whole ? ::mmap(nullptr, before + count, PROT_READ, MAP_PRIVATE, file,
                                        static_cast<off_t>(at - before))
                               : MAP_FAILED;
  ::close(file);
  if (begin == MAP_FAILED) return {};
  const size_t length = before + count;
  Mapped mapped;
  mapped.owner = std::shared_ptr<const void>(
      begin, [length](const void* from) { ::munmap(const_cast<void*>(from), length); });
  mapped.bytes = {static_cast<const std::byte*>(begin) + before, count};
  return mapped;
}

}  // namespace thimble::io
