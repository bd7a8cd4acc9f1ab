#include <tensor_dim.h>

#include <algorithm>
#include <ostream>
#include <stdexcept>
#include <utility>

#include "ml_train/properties.h"

namespace ml::train {
namespace {

const char* name_of(TensorDim::DataType type) {
  using Type = TensorDim::DataType;
  switch (type) {
    case Type::QINT4:
      return "QINT4";
    case Type::QINT8:
      return "QINT8";
    case Type::QINT16:
      return "QINT16";
    case Type::BCQ:
      return "BCQ";
    case Type::Q4_K:
      return "Q4_K";
    case Type::Q6_K:
      return "Q6_K";
    case Type::Q4_0:
      return "Q4_0";
    case Type::UINT4:
      return "UINT4";
    case Type::UINT8:
      return "UINT8";
    case Type::UINT16:
      return "UINT16";
    case Type::UINT32:
      return "UINT32";
    case Type::FP16:
      return "FP16";
    case Type::FP32:
      return "FP32";
  }
  return "";
}

std::array<std::size_t, 4> sizes_of(const std::string& text) {
  std::array<std::size_t, 4> sizes{1, 1, 1, 1};
  const auto parts = thimble::ml_train::split_text(thimble::ml_train::without_blanks(text), ':');
  const auto is_size = [](const std::string& part) {
    return !part.empty() && part.size() < 16 &&
           part.find_first_not_of("0123456789") == std::string::npos;
  };
  if (parts.empty() || parts.size() > 4 || !std::all_of(parts.begin(), parts.end(), is_size)) {
    throw std::invalid_argument("[TensorDim] expected up to four sizes such as 3:28:28, got \"" +
                                text + "\"");
  }
  for (std::size_t i = 0; i < parts.size(); ++i)
    sizes[4 - parts.size() + i] = std::stoull(parts[i]);
  return sizes;
}

}  // namespace

TensorDim::TensorDim(const Flags& effective, const Flags& dynamic)
    : TensorDim(TensorType(), effective, dynamic) {}

TensorDim::TensorDim(Format format, DataType type, const Flags& effective, const Flags& dynamic)
    : TensorDim(TensorType(format, type), effective, dynamic) {}

TensorDim::TensorDim(TensorType type, const Flags& effective, const Flags& dynamic)
    : type_(type), effective_(effective), dynamic_(dynamic) {}

TensorDim::TensorDim(std::initializer_list<std::size_t> sizes, TensorType type)
    : dim_{1, 1, 1, 1}, type_(type) {
  if (sizes.size() == 0 || sizes.size() > MAXDIM) {
    throw std::invalid_argument("[TensorDim] expected one to four sizes, got " +
                                std::to_string(sizes.size()));
  }
  std::copy(sizes.begin(), sizes.end(), dim_ + (MAXDIM - sizes.size()));
}

TensorDim::TensorDim(const std::array<std::size_t, 3>& shape, TensorType type)
    : TensorDim(1, shape[0], shape[1], shape[2], type) {}

TensorDim::TensorDim(std::size_t batch, std::size_t channel, std::size_t height, std::size_t width,
                     TensorType type, const Flags& effective, const Flags& dynamic)
    : dim_{batch, channel, height, width}, type_(type), effective_(effective), dynamic_(dynamic) {}

TensorDim::TensorDim(const std::string& shape, TensorType type) : type_(type) {
  const auto sizes = sizes_of(shape);
  std::copy(sizes.begin(), sizes.end(), dim_);
}

std::size_t& TensorDim::operator[](unsigned int axis) {
  return const_cast<std::size_t&>(std::as_const(*this)[axis]);
}

const std::size_t& TensorDim::operator[](unsigned int axis) const {
  if (axis >= MAXDIM) {
    throw std::invalid_argument("[TensorDim] expected an axis from 0 to 3, got " +
                                std::to_string(axis));
  }
  return dim_[axis];
}

void TensorDim::setTensorDim(unsigned int axis, std::size_t size) { (*this)[axis] = size; }

int TensorDim::setTensorDim(const std::string& shape, TensorType type) {
  try {
    *this = TensorDim(shape, type);
    return 0;
  } catch (const std::invalid_argument&) {
    return -22;
  }
}

std::size_t TensorDim::getDataLen() const { return dim_[0] * getFeatureLen(); }
std::size_t TensorDim::getFeatureLen() const { return dim_[1] * dim_[2] * dim_[3]; }

TensorDim TensorDim::transpose(const std::string& direction) const {
  const auto sizes = sizes_of(direction);
  std::array<std::size_t, MAXDIM> axes{0};
  for (std::size_t i = 1; i < MAXDIM; ++i) axes[i] = sizes[i] + 1;
  return transpose(axes);
}

TensorDim TensorDim::transpose(const std::array<std::size_t, MAXDIM>& axes) const {
  std::array<std::size_t, MAXDIM> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != std::array<std::size_t, MAXDIM>{0, 1, 2, 3}) {
    throw std::invalid_argument("[TensorDim] transpose needs each axis once");
  }
  TensorDim result = *this;
  for (std::size_t i = 0; i < MAXDIM; ++i) result.dim_[i] = dim_[axes[i]];
  return result;
}

std::array<std::size_t, TensorDim::MAXDIM> TensorDim::computeStrides() const {
  if (type_.format == Format::NHWC) {
    return {dim_[1] * dim_[2] * dim_[3], dim_[2] * dim_[3], dim_[3] * dim_[1], dim_[1]};
  }
  return {dim_[1] * dim_[2] * dim_[3], dim_[2] * dim_[3], dim_[3], 1};
}

unsigned int TensorDim::rank() const {
  unsigned int axis = 0;
  while (axis < MAXDIM && dim_[axis] == 1) ++axis;
  return static_cast<unsigned int>(MAXDIM) - axis;
}

std::vector<int> TensorDim::getEffectiveDimension(bool dynamic) const {
  std::vector<int> sizes;
  for (std::size_t i = 0; i < MAXDIM; ++i) {
    const std::size_t bit = MAXDIM - 1 - i;
    if (!effective_[bit]) continue;
    sizes.push_back(dynamic && dynamic_[bit] ? -1 : static_cast<int>(dim_[i]));
  }
  return sizes;
}

unsigned int TensorDim::getDataTypeSize() const {
  switch (type_.data_type) {
    case DataType::FP32:
    case DataType::UINT32:
      return 4;
    case DataType::FP16:
    case DataType::QINT16:
    case DataType::UINT16:
      return 2;
    default:
      return 1;
  }
}

bool TensorDim::operator==(const TensorDim& other) const {
  return std::equal(dim_, dim_ + MAXDIM, other.dim_) && type_ == other.type_ &&
         effective_ == other.effective_ && dynamic_ == other.dynamic_;
}

std::ostream& operator<<(std::ostream& out, const TensorDim& dim) {
  return out << "Shape: " << dim.batch() << ":" << dim.channel() << ":" << dim.height() << ":"
             << dim.width() << " [ " << name_of(dim.getDataType()) << " : "
             << (dim.getFormat() == TensorDim::Format::NCHW ? "NCHW" : "NHWC") << " ]\n";
}

}  // namespace ml::train
