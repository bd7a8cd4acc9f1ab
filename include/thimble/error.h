// The one exception type of the library.
#pragma once

#include <stdexcept>
#include <string>

namespace thimble {

// Thrown when building or compiling a graph, reading or writing a file, or on a bad setting.
// what() is one line: "[where] what is wrong, and what to do"; message() is what stands behind
// where.
class Error : public std::runtime_error {
 public:
  // where: the op, file or setting at fault, for example "conv2d" or "train-images.idx".
  Error(const std::string& where, const std::string& message);

  [[nodiscard]] const std::string& where() const noexcept { return where_; }
  [[nodiscard]] std::string message() const { return what() + where_.size() + 3; }

 private:
  std::string where_;
};

}  // namespace thimble
