#include "import/tflite/file.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <optional>

#include "import/beside.h"
#include "io/json/parse.h"
#include "ir/sizes.h"
#include "tflite_generated.h"

namespace thimble::tflite {

namespace fb = flatbuffers;

namespace {

constexpr size_t kIdentifierAt = 4;
constexpr unsigned kMostDepth = 32;
constexpr unsigned kMostTables = 1'000'000;
// FlatBuffers end here; what lies behind is reached by Buffer::offset.
constexpr size_t kMostVerified = (size_t{1} << 31) - 2;
constexpr int kPlaceholderCode = 127;
constexpr fb::voffset_t kTensorSlot10 = 4 + 2 * 10;

std::string text_of(const fb::String* text) { return text == nullptr ? "" : text->str(); }

// The items of a vector, which may be left out and may have any alignment.
template <class T>
std::vector<T> items_of(const fb::Vector<T>* vector) {
  std::vector<T> items(vector == nullptr ? 0 : vector->size());
  if (!items.empty()) std::memcpy(items.data(), vector->Data(), items.size() * sizeof(T));
  return items;
}

template <class T>
size_t size_of(const fb::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

}  // namespace

size_t element_bytes(int8_t type) {
  switch (type) {
    case kFloat32:
    case kInt32:
      return 4;
    case kFloat16:
      return 2;
    case kInt64:
      return 8;
    case kUint8:
    case kBool:
    case kInt8:
      return 1;
    default:
      return 0;
  }
}

class FileReader {
 public:
  FileReader(std::string name, std::vector<char> bytes) {
    file_.name_ = std::move(name);
    file_.bytes_ = std::move(bytes);
  }

  File run() && {
    verify();
    read_buffers();
    if (size_of(model_->subgraphs()) == 0) fail("it has no subgraph");
    const SubGraph* const graph = model_->subgraphs()->Get(0);
    read_external();
    for (size_t i = 0; i < size_of(graph->tensors()); ++i) {
      file_.tensors_.push_back(tensor(i, *graph->tensors()->Get(static_cast<unsigned>(i))));
    }
    for (size_t i = 0; i < size_of(graph->operators()); ++i) {
      file_.operators_.push_back(operation(i, *graph->operators()->Get(static_cast<unsigned>(i))));
    }
    file_.inputs_ = numbers("the inputs", graph->inputs(), 0);
    file_.outputs_ = numbers("the outputs", graph->outputs(), 0);
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw Error(file_.name_, message); }

  void verify() {
    const std::vector<char>& bytes = file_.bytes_;
    const auto* const data = reinterpret_cast<const uint8_t*>(bytes.data());
    const std::string identifier =
        bytes.size() < kIdentifierAt + 4 ? "" : std::string(bytes.data() + kIdentifierAt, 4);
    if (identifier != "TFL3" && identifier != "CIR0") {
      fail(fmt::format("is neither TensorFlow Lite nor circle: expected TFL3 or CIR0 at byte {}",
                       kIdentifierAt));
    }
    file_.is_circle_ = identifier == "CIR0";
    fb::Verifier verifier(data, std::min(bytes.size(), kMostVerified), kMostDepth, kMostTables);
    if (!verifier.VerifyBuffer<Model>(nullptr)) {
      fail("is damaged: an offset or a length leads beyond its end");
    }
    model_ = fb::GetRoot<Model>(data);
    const uint32_t version = model_->version();
    if (version != (file_.is_circle_ ? 0U : 3U)) {
      fail(fmt::format("version: expected {}, got {}", file_.is_circle_ ? 0 : 3, version));
    }
  }

  // The bytes of every buffer, which may lie behind the tables.
  void read_buffers() {
    const size_t total = file_.bytes_.size();
    for (size_t i = 0; i < size_of(model_->buffers()); ++i) {
      const Buffer* const buffer = model_->buffers()->Get(static_cast<unsigned>(i));
      if (size_of(buffer->data()) > 0) {
        buffers_.push_back(
            std::as_bytes(std::span(buffer->data()->Data(), buffer->data()->size())));
        continue;
      }
      if (buffer->offset() <= 1) {  // 0: none; 1: a place that its writer left open
        buffers_.emplace_back();
        continue;
      }
      if (buffer->offset() > total || buffer->size() > total - buffer->offset()) {
        fail(fmt::format("buffers[{}]: {} bytes from byte {} on lie beyond its end", i,
                         buffer->size(), buffer->offset()));
      }
      buffers_.push_back(
          std::as_bytes(std::span(file_.bytes_)).subspan(buffer->offset(), buffer->size()));
    }
  }

  // External buffers by their number.
  void read_external() {
    if (file_.is_circle_) return;
    for (size_t i = 0; i < size_of(model_->external_buffers()); ++i) {
      const ExternalBuffer* const buffer =
          model_->external_buffers()->Get(static_cast<unsigned>(i));
      if (!external_.emplace(buffer->id(), buffer).second) {
        fail(fmt::format("external_buffers[{}]: the number {} is there twice", i, buffer->id()));
      }
    }
  }

  std::span<const std::byte> external(const std::string& place, uint32_t id) {
    const auto found = external_.find(id);
    if (found == external_.end())
      fail(fmt::format("{}: there is no external buffer {}", place, id));
    const ExternalBuffer& buffer = *found->second;
    if (size_of(buffer.packing()) > 0) {
      fail(fmt::format("{}: its external buffer is packed as {}, which thimble does not read",
                       place, io::printable(text_of(buffer.packing()))));
    }
    if (buffer.group() >= size_of(model_->external_buffer_groups())) {
      fail(fmt::format("{}: there is no group {} of external buffers", place, buffer.group()));
    }
    const std::string name = text_of(model_->external_buffer_groups()->Get(buffer.group())->name());
    file_.external_.push_back(
        importer::read_beside(file_.name_, name, buffer.offset(), buffer.length()));
    return file_.external_.back();
  }

  TensorInfo tensor(size_t number, const Tensor& table) {
    const std::string place = fmt::format("tensors[{}]", number);
    TensorInfo info;
    info.name = text_of(table.name());
    info.type = table.type();
    info.is_variable = table.is_variable();
    std::vector<int64_t> dims;
    for (const int32_t size : items_of(table.shape())) dims.push_back(size);
    if (dims.size() > ir::kMostRank ||
        std::any_of(dims.begin(), dims.end(), [](int64_t size) { return size < 0; })) {
      fail(place + ".shape: expected at most 16 sizes of 0 or more");
    }
    info.shape = Shape(std::move(dims));
    int64_t elements = 1;  // a size of 0 counts as 1: no product of the others overflows
    for (const int64_t size : info.shape.dims()) {
      elements = ir::bounded_product(elements, std::max<int64_t>(size, 1));
    }
    if (elements > ir::kMostElements) {
      fail(fmt::format("{}.shape: {} has too many elements", place, to_string(info.shape)));
    }
    const std::vector<int32_t> signature = items_of(table.shape_signature());
    info.open_batch = !signature.empty() && signature[0] == -1;
    if (table.sparsity() != nullptr) fail(place + " is sparse, which thimble does not read");
    info.quantization = quantization(place, info.shape, table.quantization());
    info.data = contents(place, table);
    const size_t bytes = element_bytes(info.type);
    const auto wanted = static_cast<size_t>(info.shape.elements()) * bytes;
    if (!info.data.empty() && bytes > 0 && info.data.size() != wanted) {
      fail(fmt::format("{}: its shape {} needs {} bytes, its buffer has {}", place,
                       to_string(info.shape), wanted, info.data.size()));
    }
    return info;
  }

  std::span<const std::byte> contents(const std::string& place, const Tensor& table) {
    const uint8_t* const slot =
        reinterpret_cast<const fb::Table*>(&table)->GetAddressOf(kTensorSlot10);
    const auto* const end = reinterpret_cast<const uint8_t*>(file_.bytes_.data()) +
                            std::min(file_.bytes_.size(), kMostVerified);
    if (slot != nullptr) {
      const ptrdiff_t bytes = file_.is_circle_ ? 1 : 4;
      if (slot > end || end - slot < bytes) fail(place + " ends beyond the file");
      if (file_.is_circle_) {
        if (*slot != 0) fail(place + " is compressed, which thimble does not read");
      } else {
        uint32_t id = 0;
        std::memcpy(&id, slot, sizeof(id));
        if (id != 0) return external(place, id);
      }
    }
    if (table.buffer() == 0) return {};
    if (table.buffer() >= buffers_.size()) {
      fail(fmt::format("{}.buffer: there is no buffer {}", place, table.buffer()));
    }
    return buffers_[table.buffer()];
  }

  Quantization quantization(const std::string& place, const Shape& shape,
                            const QuantizationParameters* table) const {
    if (table == nullptr) return {};
    if (table->details_type() != 0) {
      fail(place + ".quantization: has details of a kind that thimble does not read");
    }
    Quantization made;
    made.scales = items_of(table->scale());
    for (const float scale : made.scales) {
      if (!std::isfinite(scale) || !(scale > 0.0F)) {
        fail(fmt::format("{}.quantization.scale: expected numbers above 0, got {}", place, scale));
      }
    }
    if (made.scales.empty()) return {};
    for (const int64_t zero : items_of(table->zero_point())) {
      if (zero < std::numeric_limits<int32_t>::min() ||
          zero > std::numeric_limits<int32_t>::max()) {
        fail(fmt::format("{}.quantization.zero_point: {} does not fit 32 bits", place, zero));
      }
      made.zero_points.push_back(static_cast<int32_t>(zero));
    }
    if (made.zero_points.empty()) made.zero_points.resize(made.scales.size());
    if (made.zero_points.size() == 1) {
      made.zero_points.resize(made.scales.size(), made.zero_points[0]);
    }
    if (made.zero_points.size() != made.scales.size()) {
      fail(place + ".quantization: has another number of zero points than scales");
    }
    if (made.scales.size() == 1) return made;
    // The axis is wrong in many files where the tensor has but one.
    int axis = shape.rank() == 1 ? 0 : table->quantized_dimension();
    if (axis < 0 || axis >= shape.rank() ||
        shape[axis] != static_cast<int64_t>(made.scales.size())) {
      fail(fmt::format("{}.quantization: {} scales do not fit axis {} of {}", place,
                       made.scales.size(), axis, to_string(shape)));
    }
    made.axis = axis;
    return made;
  }

  // Numbers of tensors, each at least `low`.
  std::vector<int> numbers(const std::string& place, const fb::Vector<int32_t>* list,
                           int low) const {
    std::vector<int> all = items_of(list);
    for (const int number : all) {
      if (number < low || number >= static_cast<int>(file_.tensors_.size())) {
        fail(fmt::format("{}: there is no tensor {}", place, number));
      }
    }
    return all;
  }

  OperatorInfo operation(size_t number, const Operator& table) const {
    const std::string place = fmt::format("operators[{}]", number);
    if (table.opcode_index() >= size_of(model_->operator_codes())) {
      fail(fmt::format("{}.opcode_index: there is no operator code {}", place,
                       table.opcode_index()));
    }
    const OperatorCode& code = *model_->operator_codes()->Get(table.opcode_index());
    OperatorInfo info;
    const int old = code.deprecated_builtin_code();
    if (file_.is_circle_) {
      info.code = old == kPlaceholderCode ? code.builtin_code() : old;
    } else {
      info.code = std::max(old, code.builtin_code());
      if (info.code == kPlaceholderCode && old == kPlaceholderCode) {
        fail(place + " stands for an operator code that its writer did not know");
      }
    }
    info.custom = text_of(code.custom_code());
    info.inputs = numbers(place + ".inputs", table.inputs(), -1);
    info.outputs = numbers(place + ".outputs", table.outputs(), 0);
    info.table = &table;
    return info;
  }

  File file_;
  const Model* model_ = nullptr;
  std::vector<std::span<const std::byte>> buffers_;
  std::map<uint32_t, const ExternalBuffer*> external_;
};

File File::read(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw Error(path, "no such file");
  if (!std::filesystem::is_regular_file(status)) throw Error(path, "is no regular file");
  std::vector<char> bytes(std::filesystem::file_size(path, error));
  std::ifstream file(path, std::ios::binary);
  if (error || !file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
    throw Error(path, "cannot be read");
  }
  return parse(path, std::move(bytes));
}

File File::parse(std::string name, std::vector<char> bytes) {
  return FileReader(std::move(name), std::move(bytes)).run();
}

}  // namespace thimble::tflite
