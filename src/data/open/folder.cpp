// Finding out what a folder holds.
#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "data/file.h"
#include "data/open/media_files.h"
#include "data/open/request.h"

namespace thimble::data {
namespace {

namespace fs = std::filesystem;

bool has_name(const std::vector<std::string>& names, const std::string& name) {
  return std::binary_search(names.begin(), names.end(), name);
}

// Two files or folders that are the parts of a data set.
struct PartPaths {
  std::string train;  // empty: there are none
  std::string test;
};

PartPaths part_folders(const std::string& folder, const FolderList& list) {
  if (!has_name(list.folders, "train")) return {};
  for (const char* const part : kTestParts) {
    if (has_name(list.folders, part)) return {folder + "/train", folder + "/" + part};
  }
  return {};
}

PartPaths part_files(const std::string& folder, const FolderList& list) {
  for (const char* const ending : {".npz", ".safetensors", ".csv", ".tsv"}) {
    if (!has_name(list.files, std::string("train") + ending)) continue;
    for (const char* const part : kTestParts) {
      if (has_name(list.files, std::string(part) + ending)) {
        return {folder + "/train" + ending, folder + "/" + part + ending};
      }
    }
  }
  return {};
}

// Where one of MNIST's or CIFAR-10's files stands: the folder itself or the one of that name in it.
std::string folder_of_set(const std::string& folder, const char* inner,
                          std::span<const char* const> names) {
  for (const std::string& place : {folder, folder + "/" + inner}) {
    for (const char* const name : names) {
      std::error_code error;
      if (fs::is_regular_file(place + "/" + name, error)) return place;
    }
  }
  return {};
}

// The usual names of one of the four files of MNIST.
std::string mnist_file(const std::string& folder, const std::string& part,
                       const std::string& rank) {
  std::vector<std::string> paths;
  for (const char* const form : {"{}/{}-{}-ubyte", "{}/{}-{}-ubyte.gz", "{}/{}.{}-ubyte"}) {
    paths.push_back(fmt::format(fmt::runtime(form), folder, part, rank));
  }
  return find_file(fmt::format("{}-{}-ubyte", part, rank), paths);
}

OpenedPart open_mnist(const std::string& folder, const OpenRequest& request) {
  if (!request.split) require_split(folder);
  const std::string part = *request.split == Split::train ? "train" : "t10k";
  const bool has_label = only_label(folder, request, "MNIST's images") != nullptr;
  OpenedPart opened =
      open_idx_files(mnist_file(folder, part + "-images", "idx3"),
                     has_label ? mnist_file(folder, part + "-labels", "idx1") : "", request);
  opened.is_part = true;
  return opened;
}

OpenedPart open_cifar(const std::string& folder, const OpenRequest& request) {
  if (!request.split) require_split(folder);
  const Dataset found = cifar10(folder, *request.split);
  std::vector<std::string> names;
  for (const Field& field : found.fields()) {
    const Field* const wanted = field.is_label ? only_label(folder, request, "CIFAR-10's images")
                                               : &only_input(folder, request, "CIFAR-10's images");
    if (wanted == nullptr) {
      names.push_back(field.name);  // nobody reads it
      continue;
    }
    if (wanted->shape != field.shape || wanted->dtype != field.dtype) {
      throw Error(folder, fmt::format("holds CIFAR-10, {}{}; the model's \"{}\" is {}{}",
                                      to_string(field.dtype), to_string(field.shape), wanted->name,
                                      to_string(wanted->dtype), to_string(wanted->shape)));
    }
    names.push_back(wanted->name);
  }
  return {found.named(names), true};
}

// The classes of the training part, which those of the test part follow.
std::vector<std::string> class_names_of(const std::string& train, const OpenRequest& request) {
  const std::array tables = {".csv", ".tsv"};
  if (has_ending(train, tables)) return csv_class_names(train, request);
  std::error_code error;
  const bool is_media = fs::is_directory(train, error) && (holds_media(train, image_endings()) ||
                                                           holds_media(train, sound_endings()));
  return is_media ? media_class_names(train) : std::vector<std::string>();
}

OpenedPart open_parts(const std::string& folder, const PartPaths& paths,
                      const OpenRequest& request) {
  if (!request.split) require_split(folder);
  OpenRequest part{request.wanted, request.options, std::nullopt, {}};
  const bool is_test = *request.split == Split::test;
  if (is_test) part.class_names = class_names_of(paths.train, part);
  const std::string& path = is_test ? paths.test : paths.train;
  std::error_code error;
  return {(fs::is_directory(path, error) ? open_folder(path, part) : open_file(path, part)).dataset,
          true};
}

// "2 folders and 3 files such as notes.md"
std::string contents_of(const FolderList& list) {
  const auto counted = [](const std::vector<std::string>& names, const char* what) {
    return fmt::format("{} {}{}", names.size(), what, names.size() == 1 ? "" : "s");
  };
  if (list.folders.empty() && list.files.empty()) return "nothing";
  const std::string files = counted(list.files, "file");
  return fmt::format("{} and {}{}", counted(list.folders, "folder"), files,
                     list.files.empty() ? "" : " such as " + list.files.front());
}

}  // namespace

OpenedPart open_folder(const std::string& folder, const OpenRequest& request) {
  const FolderList list = list_folder(folder);
  for (const PartPaths& parts : {part_folders(folder, list), part_files(folder, list)}) {
    if (!parts.train.empty()) return open_parts(folder, parts, request);
  }
  constexpr std::array kMnistNames = {"train-images-idx3-ubyte", "train-images-idx3-ubyte.gz",
                                      "train-images.idx3-ubyte"};
  const std::string mnist = folder_of_set(folder, "mnist", kMnistNames);
  if (!mnist.empty()) return open_mnist(mnist, request);
  constexpr std::array kCifarNames = {"data_batch_1.bin"};
  const std::string cifar = folder_of_set(folder, "cifar-10-batches-bin", kCifarNames);
  if (!cifar.empty()) return open_cifar(cifar, request);

  constexpr std::array kArrays = {".npy"};
  std::vector<std::string> arrays;
  for (const std::string& name : list.files) {
    if (has_ending(name, kArrays) || !idx_array_name(name).empty())
      arrays.push_back(folder + "/" + name);
  }
  if (!arrays.empty()) return open_array_files(folder, arrays, request);
  if (holds_media(folder, image_endings())) return open_images(folder, request);
  if (holds_media(folder, sound_endings())) return open_sounds(folder, request);
  constexpr std::array kTexts = {".txt"};
  if (holds_media(folder, kTexts)) return open_text(folder, request);
  throw NotFound(
      folder,
      fmt::format("holds no data that can be read, only {}; give a folder with folders "
                  "train and test, train.csv or train.npz with test.csv or test.npz, "
                  ".npy or IDX files, images (PNG, JPEG), WAV or .txt files, or a known data "
                  "set's own files",
                  contents_of(list)));
}

}  // namespace thimble::data
