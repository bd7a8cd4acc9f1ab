// The tensors of a Hugging Face model: one safetensors file, or several with an index.
#pragma once

#include <thimble/array.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/safetensors/safetensors.h"

namespace thimble::importer::hugging_face {

class Weights {
 public:
  // Throws Error where two files have a tensor of one name.
  explicit Weights(std::vector<io::Safetensors> files);
  // Those of a folder; headers are read, contents stay in the files. Throws Error naming the file
  // at fault where there is none, or a file does not hold what the index says.
  [[nodiscard]] static Weights open(const std::string& folder);

  // From now on names may begin with this prefix, whether those in the files do or not: a model is
  // saved with the name of its trunk, or as the trunk alone.
  void set_trunk(std::string prefix) { trunk_ = std::move(prefix); }
  [[nodiscard]] bool has(const std::string& name) const { return find(name) != tensors_.end(); }
  // The shape of a tensor in the file. Throws Error where there is none of that name.
  [[nodiscard]] const Shape& shape(const std::string& name) const;
  // The values, as f32: [K, C, R, S] becomes [K, R, S, C]. Throws Error naming file and tensor
  // unless it is there, of a floating-point type and, then, of this shape.
  [[nodiscard]] Array take(const std::string& name, const Shape& shape);
  // Throws Error naming a tensor that was not taken, unless its name ends with one of these.
  void require_all_taken(const std::vector<std::string>& ignored) const;
  // Where errors about a missing tensor point to.
  [[nodiscard]] const std::string& place() const { return place_; }

 private:
  struct Tensor {
    const io::Safetensors* file;
    const io::TensorView* view;
  };
  using Tensors = std::map<std::string, Tensor, std::less<>>;
  [[nodiscard]] Tensors::const_iterator find(const std::string& name) const;
  [[nodiscard]] const Tensors::value_type& at(const std::string& name) const;

  std::string place_;
  std::vector<io::Safetensors> files_;
  std::string trunk_;
  Tensors tensors_;
  std::set<std::string, std::less<>> taken_;
};

// The files with weights of a folder: "model.safetensors", or those of the index, in order of name.
[[nodiscard]] std::vector<std::string> weight_files(const std::string& folder);

// Of an index: for each file the tensors in it. file: for messages. Throws Error where it is no
// index.
using WeightMap = std::map<std::string, std::vector<std::string>>;
[[nodiscard]] WeightMap read_index(const std::string& file, std::string_view text);

}  // namespace thimble::importer::hugging_face
