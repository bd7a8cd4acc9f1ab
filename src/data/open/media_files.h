// Folders of images or sounds: which files there are, and their labels.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/open/request.h"

namespace thimble::data {

// Paths in the order of their bytes, kept in one text: a million take no more than their letters
// and eight bytes each.
class PathList {
 public:
  explicit PathList(std::string folder = {}) : folder_(std::move(folder)) {}
  void add(std::string_view name) {
    begins_.push_back(static_cast<int64_t>(names_.size()));
    names_ += name;
  }
  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(begins_.size()); }
  // In the folder.
  [[nodiscard]] std::string_view name(int64_t i) const;
  [[nodiscard]] std::string path(int64_t i) const { return folder_ + "/" + std::string(name(i)); }
  [[nodiscard]] int64_t bytes() const {
    return static_cast<int64_t>(names_.capacity() + begins_.capacity() * sizeof(int64_t));
  }

 private:
  std::string folder_;
  std::string names_;
  std::vector<int64_t> begins_;
};

// The samples of a folder. A label is a class or, of a floating-point field, a target.
struct MediaFiles {
  PathList paths;
  std::vector<int32_t> classes;  // one a path where the label is a class
  std::vector<float> targets;    // one a path where it is a target
  // Writes the label of sample i for a field.
  void write_label(const Field& field, int64_t i, void* to) const;

  bool is_part = false;  // chosen by a list of the test files (Speech Commands)

  [[nodiscard]] int64_t bytes() const {
    return paths.bytes() + static_cast<int64_t>(classes.capacity() * 4 + targets.capacity() * 4);
  }
};

// Whether a name ends so, in any case. endings: ".png" ...
[[nodiscard]] bool has_ending(std::string_view name, std::span<const char* const> endings);

// Names in a folder, sorted; without those that begin with a dot or an underscore.
struct FolderList {
  std::vector<std::string> folders;
  std::vector<std::string> files;
};
// Throws Error where the folder cannot be read.
[[nodiscard]] FolderList list_folder(const std::string& path);

// Whether the folder, or a folder in it, has a file of these endings.
[[nodiscard]] bool holds_media(const std::string& folder, std::span<const char* const> endings);

// Names of the classes of a folder: its folders, or the words in its labels.csv, sorted.
[[nodiscard]] std::vector<std::string> media_class_names(const std::string& folder);

// The files of a folder, with the label that is wanted (null: none is). Either a folder a class;
// or all files in it with labels.csv, one line a file: its name and its label, a number or a word;
// or, without label, all files in it. Where it has testing_list.txt and validation_list.txt, as
// Speech Commands has, they say what is test and what is neither. Throws Error naming a file of
// another kind, a class folder without files, and what labels.csv lacks.
[[nodiscard]] MediaFiles find_media(const std::string& folder, std::span<const char* const> endings,
                                    const Field* label, const OpenRequest& request);

}  // namespace thimble::data
