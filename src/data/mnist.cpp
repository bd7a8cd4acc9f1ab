#include <thimble/data.h>
#include <thimble/error.h>

#include <fmt/format.h>

#include "data/file.h"

namespace thimble::data {
namespace {

// The usual names of one of the four files, in every folder where people keep them.
std::string find_part(const std::string& dir, const std::string& part, const std::string& rank) {
  std::vector<std::string> paths;
  for (const std::string& folder : {dir, dir + "/mnist"}) {
    for (const char* name : {"{}/{}-{}-ubyte", "{}/{}-{}-ubyte.gz", "{}/{}.{}-ubyte"}) {
      paths.push_back(fmt::format(fmt::runtime(name), folder, part, rank));
    }
  }
  return find_file(fmt::format("{}-{}-ubyte", part, rank), paths);
}

}  // namespace

Dataset mnist(const std::string& dir, Split split) {
  const std::string part = split == Split::train ? "train" : "t10k";
  const std::string images = find_part(dir, part + "-images", "idx3");
  Dataset dataset = idx(images, find_part(dir, part + "-labels", "idx1"));
  const std::vector<Field> expected = {{"image", {28, 28, 1}, DType::f32, false},
                                       {"digit", {}, DType::i32, true}};
  if (dataset.fields() != expected) {
    throw Error(images, fmt::format("holds samples of {} with labels of {} {}; MNIST has [28, 28, "
                                    "1] and one integer: read other sets with data::idx",
                                    to_string(dataset.fields()[0].shape),
                                    to_string(dataset.fields()[1].dtype),
                                    to_string(dataset.fields()[1].shape)));
  }
  return dataset;
}

}  // namespace thimble::data
