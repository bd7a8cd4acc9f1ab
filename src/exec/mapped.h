// Memory whose contents lie in a file.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace thimble::exec {

// Whole pages of zeros, which take no memory and are read-only until put_in_file or put_in_memory.
// Throws std::bad_alloc.
[[nodiscard]] std::shared_ptr<std::byte> map_zeros(size_t bytes);

// Puts a file without a name, of zeros, in the place of such pages; addresses stay. folder: empty
// for SwapFile::default_folder(). Returns why the folder can have no such file, as
// SwapFile::why_not does, or nothing. Throws Error where the disk fails.
[[nodiscard]] std::string put_in_file(std::span<std::byte> zeros, const std::string& folder);

// Lets such pages be memory that can be written to. Throws std::bad_alloc.
void put_in_memory(std::span<std::byte> zeros);

// Tells the system that pages of a mapped file are not needed for a while. They are read again
// where they are.
void drop_pages(std::span<const std::byte> mapped);

}  // namespace thimble::exec
