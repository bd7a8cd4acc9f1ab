#include "data/open/media_files.h"

#include <thimble/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <set>

#include "data/csv_cells.h"
#include "data/file.h"
#include "ir/element.h"

namespace thimble::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLabelsFile = "labels.csv";
constexpr const char* kTestingList = "testing_list.txt";
constexpr const char* kValidationList = "validation_list.txt";

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

bool holds_files(const FolderList& list, std::span<const char* const> endings) {
  return std::any_of(list.files.begin(), list.files.end(),
                     [&](const std::string& name) { return has_ending(name, endings); });
}

std::string text_of_file(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The lines of labels.csv.
struct LabelLine {
  std::string file;
  std::string label;
};

bool leaves_folder(const std::string& name) {
  const fs::path path(name);
  return path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end();
}

std::vector<LabelLine> read_labels(const std::string& folder) {
  const std::string path = folder + "/" + kLabelsFile;
  const std::string text = text_of_file(path);
  CsvCells rows(path, text, ',');
  std::vector<LabelLine> lines;
  size_t width = 0;
  while (rows.next()) {
    const bool is_first = width == 0;
    if (is_first) width = rows.cells().size();
    if (width != 2)
      rows.fail(0, fmt::format("expected two columns, file and label, got {}", width));
    rows.expect_width(width);
    LabelLine line{std::string(rows.cells()[0]), std::string(rows.cells()[1])};
    if (leaves_folder(line.file)) {
      rows.fail(0, fmt::format("names {}; a file must stand in the folder", shown(line.file)));
    }
    std::error_code error;
    if (fs::is_regular_file(folder + "/" + line.file, error)) {
      lines.push_back(std::move(line));
    } else if (!is_first || has_ending(line.file, std::array{".png", ".jpg", ".jpeg", ".wav"})) {
      rows.fail(0, fmt::format("names {}, which is not in the folder", shown(line.file)));
    }  // else it is the header
  }
  std::sort(lines.begin(), lines.end(),
            [](const LabelLine& a, const LabelLine& b) { return a.file < b.file; });
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].file == lines[i - 1].file) {
      throw Error(path, fmt::format("names {} twice", shown(lines[i].file)));
    }
  }
  if (lines.empty()) throw Error(path, "names no file");
  return lines;
}

bool is_class_number(const std::string& text) {
  int32_t value = 0;
  return CsvCells::parse(std::string_view(text), value) && value >= 0;
}

bool are_numbered(const std::vector<LabelLine>& lines) {
  return std::all_of(lines.begin(), lines.end(),
                     [](const LabelLine& line) { return is_class_number(line.label); });
}

std::vector<std::string> words_of(const std::vector<LabelLine>& lines) {
  if (are_numbered(lines)) return {};
  std::set<std::string> words;
  for (const LabelLine& line : lines) words.insert(line.label);
  return {words.begin(), words.end()};
}

int32_t class_number(const std::string& where, const std::vector<std::string>& names,
                     const std::string& name) {
  const auto found = std::lower_bound(names.begin(), names.end(), name);
  if (found == names.end() || *found != name) {
    throw Error(
        where, fmt::format("has the class {}, which the training part does not have", shown(name)));
  }
  return static_cast<int32_t>(found - names.begin());
}

[[noreturn]] void refuse(const std::string& path, std::span<const char* const> endings) {
  throw Error(path,
              fmt::format("is of another kind than the files {} beside it; convert it, or move "
                          "it elsewhere",
                          fmt::join(endings, " ")));
}

// All files of the folder stand in it.
void find_flat(const std::string& folder, const FolderList& list,
               std::span<const char* const> endings, MediaFiles& found) {
  if (!list.folders.empty()) {
    throw Error(folder, fmt::format("holds files {} and the folder {}; expected files alone, or a "
                                    "folder a class",
                                    fmt::join(endings, " "), shown(list.folders.front())));
  }
  for (const std::string& name : list.files) {
    if (name == kLabelsFile) continue;
    if (!has_ending(name, endings)) refuse(folder + "/" + name, endings);
    found.paths.add(name);
  }
}

void find_labelled(const std::string& folder, const FolderList& list,
                   std::span<const char* const> endings, const Field& label,
                   const OpenRequest& request, MediaFiles& found) {
  const std::string where = folder + "/" + kLabelsFile;
  const std::vector<LabelLine> lines = read_labels(folder);
  const std::vector<std::string> names =
      request.class_names.empty() ? words_of(lines) : request.class_names;
  for (const LabelLine& line : lines) {
    if (!has_ending(line.file, endings)) refuse(folder + "/" + line.file, endings);
    found.paths.add(line.file);
    if (thimble::is_floating(label.dtype)) {
      double value = 0;
      if (!CsvCells::parse(std::string_view(line.label), value) || !std::isfinite(value)) {
        throw Error(where, fmt::format("gives {} the label {}; the model takes a number",
                                       shown(line.file), shown(line.label)));
      }
      found.targets.push_back(static_cast<float>(value));
    } else if (names.empty()) {
      int32_t value = 0;
      if (!CsvCells::parse(std::string_view(line.label), value) || value < 0) {
        throw Error(where, fmt::format("gives {} the class {}; expected 0 to 2^31-1",
                                       shown(line.file), shown(line.label)));
      }
      found.classes.push_back(value);
    } else {
      found.classes.push_back(class_number(where, names, line.label));
    }
  }
  for (const std::string& name : list.files) {
    if (!has_ending(name, endings)) continue;
    const auto at =
        std::lower_bound(lines.begin(), lines.end(), name,
                         [](const LabelLine& a, const std::string& b) { return a.file < b; });
    if (at == lines.end() || at->file != name) {
      throw Error(where, fmt::format("has no line for {}", shown(name)));
    }
  }
}

// The names in a list of Speech Commands, sorted; none where there is no such list.
std::vector<std::string> names_in(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return {};
  std::vector<std::string> names;
  const std::string text = text_of_file(path);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string name = text.substr(begin, end - begin);
    if (name.ends_with('\r')) name.pop_back();
    if (!name.empty()) names.push_back(std::move(name));
    begin = end + 1;
  }
  std::sort(names.begin(), names.end());
  return names;
}

void find_classes(const std::string& folder, const FolderList& list,
                  std::span<const char* const> endings, const Field* label,
                  const OpenRequest& request, MediaFiles& found) {
  const std::vector<std::string> testing = names_in(folder + "/" + kTestingList);
  const std::vector<std::string> validation = names_in(folder + "/" + kValidationList);
  found.is_part = !testing.empty();
  if (found.is_part && !request.split) require_split(folder);
  const bool wants_test = request.split == Split::test;
  const std::vector<std::string>& names =
      request.class_names.empty() ? list.folders : request.class_names;
  for (const std::string& name : list.folders) {
    const FolderList members = list_folder(folder + "/" + name);
    if (!members.folders.empty() || members.files.empty()) {
      throw Error(folder + "/" + name,
                  members.files.empty() && members.folders.empty()
                      ? "is a class without files; remove the folder, or fill it"
                      : "holds folders; a class holds files alone");
    }
    const int32_t number = label == nullptr ? 0 : class_number(folder, names, name);
    for (const std::string& file : members.files) {
      const std::string path = name + "/" + file;
      if (!has_ending(file, endings)) refuse(folder + "/" + path, endings);
      const auto stands_in = [&](const std::vector<std::string>& all) {
        return std::binary_search(all.begin(), all.end(), path);
      };
      if (found.is_part && stands_in(testing) != wants_test) continue;
      if (found.is_part && !wants_test && stands_in(validation)) continue;
      found.paths.add(path);
      if (label != nullptr) found.classes.push_back(number);
    }
  }
}

}  // namespace

void MediaFiles::write_label(const Field& field, int64_t i, void* to) const {
  const auto at = static_cast<size_t>(i);
  const int type = static_cast<int>(field.dtype);
  if (thimble::is_floating(field.dtype)) {
    element_store_real(to, type, 0, targets[at]);
  } else {
    element_store_int(to, type, 0, classes[at]);
  }
}

std::string_view PathList::name(int64_t i) const {
  const auto at = static_cast<size_t>(i);
  const auto begin = static_cast<size_t>(begins_[at]);
  const size_t end = at + 1 < begins_.size() ? static_cast<size_t>(begins_[at + 1]) : names_.size();
  return std::string_view(names_).substr(begin, end - begin);
}

bool has_ending(std::string_view name, std::span<const char* const> endings) {
  const std::string lower = lower_case(name);
  return std::any_of(endings.begin(), endings.end(),
                     [&](const char* ending) { return lower.ends_with(ending); });
}

FolderList list_folder(const std::string& path) {
  FolderList list;
  std::error_code error;
  fs::directory_iterator at(path, error);
  for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool is_hidden = name.starts_with('.') || name.starts_with('_') || name == "Thumbs.db" ||
                           name == "desktop.ini";
    if (is_hidden) continue;
    std::error_code unreadable;
    (at->is_directory(unreadable) ? list.folders : list.files).push_back(name);
  }
  if (error) throw Error(path, "cannot be read as a folder: " + error.message());
  std::sort(list.folders.begin(), list.folders.end());
  std::sort(list.files.begin(), list.files.end());
  return list;
}

bool holds_media(const std::string& folder, std::span<const char* const> endings) {
  const FolderList list = list_folder(folder);
  return holds_files(list, endings) ||
         std::any_of(list.folders.begin(), list.folders.end(), [&](const std::string& name) {
           return holds_files(list_folder(folder + "/" + name), endings);
         });
}

std::vector<std::string> media_class_names(const std::string& folder) {
  std::error_code error;
  if (fs::is_regular_file(folder + "/" + kLabelsFile, error)) return words_of(read_labels(folder));
  return list_folder(folder).folders;
}

MediaFiles find_media(const std::string& folder, std::span<const char* const> endings,
                      const Field* label, const OpenRequest& request) {
  const FolderList list = list_folder(folder);
  const bool has_labels = std::binary_search(list.files.begin(), list.files.end(), kLabelsFile);
  MediaFiles found;
  found.paths = PathList(folder);
  if (label != nullptr && (label->shape.elements() != 1 || is_packed(label->dtype))) {
    throw Error(folder,
                fmt::format("its files have one label each, a class or a number; the model's "
                            "label \"{}\" is {}{}",
                            label->name, to_string(label->dtype), to_string(label->shape)));
  }
  if (has_labels && label != nullptr) {
    find_labelled(folder, list, endings, *label, request, found);
  } else if (holds_files(list, endings)) {
    if (label != nullptr) {
      throw Error(folder,
                  fmt::format("its files have no labels for \"{}\": put those of each class "
                              "into a folder of its own, or add {} with lines FILE,LABEL",
                              label->name, kLabelsFile));
    }
    find_flat(folder, list, endings, found);
  } else {
    if (label != nullptr && thimble::is_floating(label->dtype)) {
      throw Error(folder,
                  fmt::format("its folders are classes, integers; the model's label \"{}\" is {}",
                              label->name, to_string(label->dtype)));
    }
    find_classes(folder, list, endings, label, request, found);
  }
  if (label != nullptr && !found.classes.empty()) {
    check_integers(folder, make_array(found.classes, {found.paths.size()}), label->dtype);
  }
  if (found.paths.size() == 0) throw Error(folder, "holds no files for this part of the data");
  return found;
}

}  // namespace thimble::data
