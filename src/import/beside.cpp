#include "import/beside.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <filesystem>
#include <fstream>

#include "io/json/parse.h"

namespace thimble::importer {

namespace fs = std::filesystem;

std::string path_beside(const std::string& model, std::string_view name) {
  const auto fail = [&](const char* why) {
    throw Error(model,
                fmt::format("names the file {}, which {}", io::printable(std::string(name)), why));
  };
  if (name.empty()) fail("is no name");
  if (name.find('\0') != std::string_view::npos || name.find('\\') != std::string_view::npos) {
    fail("has a character that names of files beside a model may not have");
  }
  const fs::path relative{std::string(name)};
  if (relative.is_absolute()) fail("does not lie in the model's folder");
  fs::path path = fs::path(model).parent_path();
  std::error_code error;
  for (const fs::path& part : relative) {
    if (part.empty() || part == "." || part == "..") fail("does not lie in the model's folder");
    path /= part;
    if (fs::is_symlink(fs::symlink_status(path, error))) fail("is reached by a symbolic link");
  }
  if (!fs::exists(path, error)) fail("does not exist");
  if (!fs::is_regular_file(path, error)) fail("is no regular file");
  return path.string();
}

std::vector<std::byte> read_beside(const std::string& model, std::string_view name, uint64_t offset,
                                   uint64_t length) {
  const std::string path = path_beside(model, name);
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  if (error || offset > size || length > size - offset) {
    throw Error(path, fmt::format("{} needs {} bytes from byte {} on, but the file has {}", model,
                                  length, offset, error ? 0 : size));
  }
  std::vector<std::byte> bytes(length);
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(length));
  if (!file) throw Error(path, "cannot be read");
  return bytes;
}

}  // namespace thimble::importer
