// The contents of a TensorFlow Lite or circle file, checked: every number of a tensor, an operator
// or a buffer that the structures below hold exists.
#pragma once

#include <thimble/quantization.h>
#include <thimble/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

namespace thimble::tflite {

struct Operator;  // of the file

// Element types, by the numbers of files; Tensor::type may be any other.
enum TensorType : int8_t {
  kFloat32 = 0,
  kFloat16 = 1,
  kInt32 = 2,
  kUint8 = 3,
  kInt64 = 4,
  kBool = 6,
  kInt8 = 9,
  kUint32 = 15,
};
// Bytes of an element, or 0 for types that the reader does not know.
[[nodiscard]] size_t element_bytes(int8_t type);

struct TensorInfo {
  std::string name;
  Shape shape;
  int8_t type = kFloat32;
  bool open_batch = false;  // dimension 0 has no size of its own
  bool is_variable = false;
  Quantization quantization;        // axis: of several scales alone
  std::span<const std::byte> data;  // of a constant, in memory of the File; empty: it is none
};

struct OperatorInfo {
  int code = 0;              // below 0: an operator of circle's own
  std::string custom;        // the name of an operator of another kind
  std::vector<int> inputs;   // tensors; -1: left out
  std::vector<int> outputs;  // tensors
  const Operator* table = nullptr;
};

// One model: the first subgraph of the file.
class File {
 public:
  // Throws Error naming the file, and the field at fault.
  [[nodiscard]] static File read(const std::string& path);
  // The same from memory. name: of the file, which lies in the folder of external buffers.
  [[nodiscard]] static File parse(std::string name, std::vector<char> bytes);

  [[nodiscard]] const std::string& name() const { return name_; }
  // All of it, as it was read.
  [[nodiscard]] std::span<const char> bytes() const { return bytes_; }
  [[nodiscard]] bool is_circle() const { return is_circle_; }
  [[nodiscard]] const std::vector<TensorInfo>& tensors() const { return tensors_; }
  [[nodiscard]] const TensorInfo& tensor(int i) const { return tensors_[static_cast<size_t>(i)]; }
  [[nodiscard]] const std::vector<OperatorInfo>& operators() const { return operators_; }
  [[nodiscard]] const std::vector<int>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<int>& outputs() const { return outputs_; }

  File(File&&) = default;
  File& operator=(File&&) = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

 private:
  friend class FileReader;
  File() = default;
  std::string name_;
  std::vector<char> bytes_;
  std::deque<std::vector<std::byte>> external_;
  bool is_circle_ = false;
  std::vector<TensorInfo> tensors_;
  std::vector<OperatorInfo> operators_;
  std::vector<int> inputs_;
  std::vector<int> outputs_;
};

}  // namespace thimble::tflite
