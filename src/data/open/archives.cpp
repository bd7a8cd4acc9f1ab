// Data sets of arrays: .npz, .npy, IDX.
#include <thimble/error.h>

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <string_view>

#include "data/file.h"
#include "data/idx.h"
#include "data/npy.h"
#include "data/open/request.h"
#include "data/zip.h"

namespace thimble::data {
namespace {

// The array in a .npy or IDX file.
StoredArray array_of(const std::string& file) {
  StoragePtr bytes = in_file(file);
  return is_gzip(*bytes) || begins_with(*bytes, kIdxMagic) ? parse_idx(file, std::move(bytes))
                                                           : parse_npy(file, std::move(bytes));
}

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

std::string idx_array_name(const std::string& file) {
  // NAME.idx, NAME-idx3-ubyte, NAME.idx3-ubyte, each with or without .gz.
  std::string_view name = file;
  if (name.ends_with(".gz")) name.remove_suffix(3);
  if (name.ends_with("-ubyte")) name.remove_suffix(6);
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0) {
    name.remove_suffix(1);
  }
  if (!name.ends_with(".idx") && !name.ends_with("-idx")) return {};
  return std::string(name.substr(0, name.size() - 4));
}

OpenedPart open_array_files(const std::string& where, const std::vector<std::string>& paths,
                            const OpenRequest& request) {
  std::vector<NamedArray> arrays;
  for (const std::string& path : paths) {
    // "image=x.npy" is the array of the field image.
    const size_t sign = path.find('=');
    const bool is_named = sign != std::string::npos && !std::filesystem::exists(path);
    const std::string file = is_named ? path.substr(sign + 1) : path;
    const std::filesystem::path place(path);
    const std::string idx = idx_array_name(place.filename().string());
    arrays.emplace_back(is_named      ? path.substr(0, sign)
                        : idx.empty() ? place.stem().string()
                                      : idx,
                        [file] { return array_of(file); });
  }
  return matched_part(where, std::move(arrays), request);
}

OpenedPart open_idx_files(const std::string& images, const std::string& labels,
                          const OpenRequest& request) {
  std::vector<NamedArray> arrays;
  arrays.emplace_back("images", parse_idx(images, in_file(images)));
  if (!labels.empty()) arrays.emplace_back("labels", parse_idx(labels, in_file(labels)));
  return {matched(images, std::move(arrays), request.wanted), false};
}

}  // namespace thimble::data
