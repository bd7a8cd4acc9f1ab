// The dimensions of a tensor: batch, channel, height and width.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <vector>

#ifdef ENABLE_FP16
#ifndef _FP16
#define _FP16 _Float16
#endif
#endif

namespace ml::train {

// Errors: std::invalid_argument for axes, texts and sizes that make no sense.
class TensorDim {
 public:
  static constexpr std::size_t MAXDIM = 4;

  enum class Format { NCHW, NHWC };
  enum class DataType {
    QINT4,
    QINT8,
    QINT16,
    BCQ,
    Q4_K,
    Q6_K,
    Q4_0,
    UINT4,
    UINT8,
    UINT16,
    UINT32,
    FP16,
    FP32,
  };
  enum class StorageOrder { ROW_MAJOR, COL_MAJOR };

  struct TensorType {
    Format format;
    DataType data_type;
    StorageOrder storage_order;
    TensorType() : TensorType(Format::NCHW, DataType::FP32) {}
    TensorType(Format fm, DataType type, StorageOrder order = StorageOrder::ROW_MAJOR)
        : format(fm), data_type(type), storage_order(order) {}
    bool operator==(const TensorType& other) const {
      return format == other.format && data_type == other.data_type &&
             storage_order == other.storage_order;
    }
  };

  using Flags = std::bitset<MAXDIM>;  // bit 0: width, bit 3: batch

  explicit TensorDim(const Flags& effective = Flags(0b1111), const Flags& dynamic = Flags(0));
  TensorDim(Format format, DataType type, const Flags& effective = Flags(0b1111),
            const Flags& dynamic = Flags(0));
  explicit TensorDim(TensorType type, const Flags& effective = Flags(0b1111),
                     const Flags& dynamic = Flags(0));
  // One to four sizes; those left out are leading ones.
  TensorDim(std::initializer_list<std::size_t> sizes, TensorType type = TensorType());
  TensorDim(const std::array<std::size_t, 3>& shape, TensorType type = TensorType());
  TensorDim(std::size_t batch, std::size_t channel, std::size_t height, std::size_t width,
            TensorType type = TensorType(), const Flags& effective = Flags(0b1111),
            const Flags& dynamic = Flags(0));
  TensorDim(std::size_t channel, std::size_t height, std::size_t width,
            TensorType type = TensorType())
      : TensorDim(1, channel, height, width, type) {}
  TensorDim(std::size_t height, std::size_t width, TensorType type = TensorType())
      : TensorDim(1, 1, height, width, type) {}
  TensorDim(std::size_t width, TensorType type = TensorType()) : TensorDim(1, 1, 1, width, type) {}
  // "3:28:28"
  TensorDim(const std::string& shape, TensorType type = TensorType());

  [[nodiscard]] std::size_t batch() const { return dim_[0]; }
  [[nodiscard]] std::size_t channel() const { return dim_[1]; }
  [[nodiscard]] std::size_t height() const { return dim_[2]; }
  [[nodiscard]] std::size_t width() const { return dim_[3]; }
  void batch(std::size_t n) { setTensorDim(0, n); }
  void channel(std::size_t n) { setTensorDim(1, n); }
  void height(std::size_t n) { setTensorDim(2, n); }
  void width(std::size_t n) { setTensorDim(3, n); }

  std::size_t& operator[](unsigned int axis);
  const std::size_t& operator[](unsigned int axis) const;
  [[nodiscard]] const std::size_t* getDim() const { return dim_; }
  [[nodiscard]] static unsigned int getNumDim() { return MAXDIM; }
  [[nodiscard]] std::size_t getTensorDim(unsigned int axis) const { return (*this)[axis]; }
  void setTensorDim(unsigned int axis, std::size_t size);
  // Returns 0, or -22 where the text is no shape.
  int setTensorDim(const std::string& shape, TensorType type = TensorType());
  // Elements; those of one sample.
  [[nodiscard]] std::size_t getDataLen() const;
  [[nodiscard]] std::size_t getFeatureLen() const;
  void resetLen() {}

  // "0:2:1": which of channel, height and width comes first, second and third.
  [[nodiscard]] TensorDim transpose(const std::string& direction) const;
  [[nodiscard]] TensorDim transpose(const std::array<std::size_t, MAXDIM>& axes) const;
  [[nodiscard]] std::array<std::size_t, MAXDIM> computeStrides() const;
  // Axes from the first that is not 1 to the width; 0: of a scalar.
  [[nodiscard]] unsigned int rank() const;
  [[nodiscard]] bool isEmpty() const { return getDataLen() == 0; }

  void setEffDimFlag(const Flags& flags) { effective_ = flags; }
  void setDynDimFlag(const Flags& flags) { dynamic_ = flags; }
  [[nodiscard]] const Flags& getEffDimFlag() const { return effective_; }
  [[nodiscard]] const Flags& getDynDimFlag() const { return dynamic_; }
  // Sizes of the effective axes; the dynamic ones as -1 if asked for.
  [[nodiscard]] std::vector<int> getEffectiveDimension(bool dynamic = false) const;
  [[nodiscard]] bool is_dynamic() const { return dynamic_.any(); }

  [[nodiscard]] TensorType getTensorType() const { return type_; }
  void setTensorType(TensorType type) { type_ = type; }
  [[nodiscard]] Format getFormat() const { return type_.format; }
  void setFormat(Format format) { type_.format = format; }
  [[nodiscard]] DataType getDataType() const { return type_.data_type; }
  void setDataType(DataType type) { type_.data_type = type; }
  [[nodiscard]] StorageOrder getStorageOrder() const { return type_.storage_order; }
  // Bytes of an element.
  [[nodiscard]] unsigned int getDataTypeSize() const;

  bool operator==(const TensorDim& other) const;
  bool operator!=(const TensorDim& other) const { return !(*this == other); }

 private:
  std::size_t dim_[MAXDIM] = {0, 0, 0, 0};
  TensorType type_;
  Flags effective_{0b1111};
  Flags dynamic_{0};
};

// "Shape: 1:3:28:28 [ FP32 : NCHW ]" and a newline.
std::ostream& operator<<(std::ostream& out, const TensorDim& dim);

}  // namespace ml::train
