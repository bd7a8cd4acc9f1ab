// Data sets of arrays: .npz, .npy, IDX.
#include <thimble/error.h>

#include <fmt/format.h>

#include <filesystem>

#include "data/file.h"
#include "data/idx.h"
#include "data/npy.h"
#include "data/open/request.h"
#include "data/zip.h"

namespace thimble::data {
namespace {

OpenedPart matched_part(const std::string& where, std::vector<NamedArray> arrays,
                        const OpenRequest& request) {
  ArraysOfPart part = arrays_of_part(where, std::move(arrays), request.split);
  return {matched(where, std::move(part.arrays), request.wanted), part.is_part};
}

}  // namespace

OpenedPart open_npz(const std::string& path, const OpenRequest& request) {
  const StoragePtr archive = in_file(path);
  std::vector<NamedArray> arrays;
  for (const ZipMember& member : zip_members(path, *archive)) {
    const std::string_view ending = ".npy";
    if (!member.name.ends_with(ending)) continue;
    arrays.emplace_back(
        member.name.substr(0, member.name.size() - ending.size()), [path, archive, member] {
          return parse_npy(fmt::format("{}: {}", path, member.name), unzip(path, archive, member));
        });
  }
  return matched_part(path, std::move(arrays), request);
}

OpenedPart open_npy_files(const std::string& where, const std::vector<std::string>& paths,
                          const OpenRequest& request) {
  std::vector<NamedArray> arrays;
  for (const std::string& path : paths) {
    // "image=x.npy" is the array of the field image.
    const size_t sign = path.find('=');
    const bool is_named = sign != std::string::npos && !std::filesystem::exists(path);
    const std::string file = is_named ? path.substr(sign + 1) : path;
    arrays.emplace_back(
        is_named ? path.substr(0, sign) : std::filesystem::path(path).stem().string(),
        [file] { return parse_npy(file, in_file(file)); });
  }
  return matched_part(where, std::move(arrays), request);
}

OpenedPart open_idx_files(const std::string& images, const std::string& labels,
                          const OpenRequest& request) {
  const auto array_of = [](const std::string& path) { return parse_idx(path, in_file(path)); };
  std::vector<NamedArray> arrays;
  arrays.emplace_back("images", array_of(images));
  if (!labels.empty()) arrays.emplace_back("labels", array_of(labels));
  return {matched(images, std::move(arrays), request.wanted), false};
}

}  // namespace thimble::data
