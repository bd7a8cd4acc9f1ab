// Finding out what a path is.
#include <thimble/data_open.h>
#include <thimble/data_split.h>
#include <thimble/data_text.h>
#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "data/file.h"
#include "data/open/media_files.h"
#include "data/open/request.h"
#include "data/zip.h"

namespace thimble::data {
namespace {

// "train-images-idx3-ubyte.gz" -> "train-labels-idx1-ubyte.gz".
std::string labels_beside(const std::string& images) {
  std::string labels = images;
  for (const auto& [from, to] : {std::pair("images", "labels"), std::pair("idx3", "idx1")}) {
    const size_t at = labels.rfind(from);
    if (at != std::string::npos) labels.replace(at, std::string_view(from).size(), to);
  }
  return labels;
}

OpenedPart open_idx(const std::string& path, const OpenRequest& request) {
  if (only_label(path, request, "IDX images") == nullptr) {
    return open_idx_files(path, {}, request);
  }
  const std::string labels = labels_beside(path);
  std::error_code error;
  if (labels == path || !std::filesystem::is_regular_file(labels, error)) {
    throw Error(path,
                "is an IDX file, and no file of its labels stands beside it; expected a name "
                "with images, such as train-images-idx3-ubyte, and one with labels");
  }
  return open_idx_files(path, labels, request);
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

void check_open_options(const OpenOptions& options) {
  if (options.validation_split > 0 && options.validation_split < 1) return;
  throw Error("validation split",
              fmt::format("is {}; it must lie between 0 and 1", options.validation_split));
}

// The only label that holds classes.
const std::string& class_label(const std::string& path, const std::vector<Field>& wanted) {
  const Field* found = nullptr;
  for (const Field& field : wanted) {
    if (!field.is_label || is_floating(field.dtype) || field.shape.elements() != 1) continue;
    if (found != nullptr) {
      throw Error(
          "stratified split",
          fmt::format("of {} could follow the classes of \"{}\" or \"{}\"; open all samples "
                      "and call stratified_split with the one to follow",
                      path, found->name, field.name));
    }
    found = &field;
  }
  if (found != nullptr) return found->name;
  throw Error("stratified split",
              fmt::format("of {} has no classes to follow: no label of the model is one whole "
                          "number a sample; leave it out",
                          path));
}

OpenedPart open_path(const std::string& path, const OpenRequest& request) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return open_folder(path, request);
  const bool names_arrays =
      path.find(',') != std::string::npos || path.find('=') != std::string::npos;
  if (names_arrays && !std::filesystem::exists(path, error)) {
    return open_array_files(path, split_at_commas(path), request);
  }
  return open_file(path, request);
}

}  // namespace

bool begins_with(const Storage& file, std::string_view magic) {
  std::vector<std::byte> begin(magic.size());
  if (file.size() < static_cast<int64_t>(magic.size())) return false;
  file.read(0, begin);
  return std::string_view(reinterpret_cast<const char*>(begin.data()), begin.size()) == magic;
}

// A text model is fed windows of bytes and the bytes that follow them.
OpenedPart open_text(const std::string& path, const OpenRequest& request) {
  const Field& input = only_input(path, request, "a text");
  const Field* const label = only_label(path, request, "a text");
  const bool fits = input.dtype == DType::i32 && input.shape.rank() == 1 && label != nullptr &&
                    label->dtype == DType::i32 && label->shape == input.shape;
  if (!fits) {
    throw Error(path,
                fmt::format("is a text, which feeds an input and a label i32[window]; \"{}\" is "
                            "{}{}",
                            input.name, to_string(input.dtype), to_string(input.shape)));
  }
  if (!request.split) require_split(path);
  const bool is_input_first = &input < label;
  const Dataset found = text(path, {.window = input.shape[0]}, *request.split);
  if (is_input_first) return {found.named({input.name, label->name}), true};
  throw Error(path, "is a text, for which a model has its input before its label");
}

OpenedPart open_file(const std::string& path, const OpenRequest& request) {
  const StoragePtr file = in_file(path);
  const auto ends = [&](const char* ending) {
    const std::array endings = {ending};
    return has_ending(path, endings);
  };
  if (is_zip(*file)) return open_npz(path, request);
  if (begins_with(*file, "\x93NUMPY")) return open_array_files(path, {path}, request);
  if (ends(".safetensors")) return open_safetensors(path, request);
  if (ends(".csv") || ends(".tsv")) return {open_csv(path, request), false};
  if (ends(".txt")) return open_text(path, request);
  if (is_gzip(*file) || begins_with(*file, kIdxMagic)) {
    return open_idx(path, request);
  }
  throw Error(path,
              "is of no known kind; expected .npz, .npy, .safetensors, .csv, .tsv, .txt, IDX "
              "(plain or .gz), or a folder: of images, WAV files, or files of these kinds");
}

Dataset open(const std::string& path, const std::vector<Field>& wanted,
             const OpenOptions& options) {
  check_open_options(options);
  if (wanted.empty()) throw Error(path, "is wanted for no field; name what the model is fed");
  const std::string classes = options.stratified ? class_label(path, wanted) : std::string();
  const OpenedPart opened = open_path(path, {wanted, options, options.split, {}});
  if (opened.is_part || !options.split) return opened.dataset;
  const auto [training, validation] =
      options.stratified
          ? stratified_split(opened.dataset, classes, options.validation_split, options.seed)
          : opened.dataset.split(options.validation_split, options.seed);
  return *options.split == Split::train ? training : validation;
}

Dataset open(const std::string& path, const Graph& graph, const OpenOptions& options) {
  return open(path, fields_of(graph), options);
}

}  // namespace thimble::data
