// The request to the readers behind data::open.
#pragma once

#include <thimble/data_open.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/named_arrays.h"

namespace thimble::data {

struct OpenRequest {
  std::span<const Field> wanted;
  const OpenOptions& options;
  std::optional<Split> split;            // none: all samples of the path
  std::vector<std::string> class_names;  // of the training part, in order; empty: not known
};

// A data set, and whether it is the part that was asked for: else the path has no parts.
struct OpenedPart {
  Dataset dataset;
  bool is_part = false;
};

// The names under which a part other than the training part stands, best first.
inline constexpr const char* kTestParts[] = {"test", "validation", "valid", "val"};

// Throws Error that says to name a part of a path that has parts.
[[noreturn]] void require_split(const std::string& path);

// Of arrays that are named for parts (x_train, test_labels), those of the part asked for, under
// names without it. Others as they are. Throws Error where there are parts and none is asked for.
struct ArraysOfPart {
  std::vector<NamedArray> arrays;
  bool is_part = false;
};
[[nodiscard]] ArraysOfPart arrays_of_part(const std::string& path, std::vector<NamedArray> arrays,
                                          std::optional<Split> split);

// The only input (label) that is wanted. Throws Error that names `what` is fed by it where there is
// not exactly one input, or more than one label. The label may be missing: null.
[[nodiscard]] const Field& only_input(const std::string& path, const OpenRequest& request,
                                      const char* what);
[[nodiscard]] const Field* only_label(const std::string& path, const OpenRequest& request,
                                      const char* what);

// Whether a file begins with these bytes; those of IDX are followed by the element type.
inline constexpr std::string_view kIdxMagic{"\0\0", 2};
[[nodiscard]] bool begins_with(const Storage& file, std::string_view magic);

// The readers. Each takes a path that is what its name says.
[[nodiscard]] OpenedPart open_file(const std::string& path, const OpenRequest& request);
[[nodiscard]] OpenedPart open_folder(const std::string& path, const OpenRequest& request);
[[nodiscard]] OpenedPart open_npz(const std::string& path, const OpenRequest& request);
[[nodiscard]] OpenedPart open_safetensors(const std::string& path, const OpenRequest& request);
// Files of .npy or IDX, one an array: "image.npy", or "image=FILE".
[[nodiscard]] OpenedPart open_array_files(const std::string& where,
                                          const std::vector<std::string>& paths,
                                          const OpenRequest& request);
// The name of the array in "image.idx" or "image-idx3-ubyte.gz"; empty: no name of an IDX file.
[[nodiscard]] std::string idx_array_name(const std::string& file);
[[nodiscard]] OpenedPart open_idx_files(const std::string& images, const std::string& labels,
                                        const OpenRequest& request);
[[nodiscard]] Dataset open_csv(const std::string& path, const OpenRequest& request);
[[nodiscard]] OpenedPart open_text(const std::string& path, const OpenRequest& request);
// The classes that a table names by text, sorted; empty where it numbers them.
[[nodiscard]] std::vector<std::string> csv_class_names(const std::string& path,
                                                       const OpenRequest& request);
[[nodiscard]] std::span<const char* const> image_endings();
[[nodiscard]] std::span<const char* const> sound_endings();
[[nodiscard]] OpenedPart open_images(const std::string& folder, const OpenRequest& request);
[[nodiscard]] OpenedPart open_sounds(const std::string& folder, const OpenRequest& request);

}  // namespace thimble::data
