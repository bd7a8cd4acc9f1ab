#include "import/tflite/weights_file.h"

#include <fmt/format.h>
#include <thimble/error.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "tflite_generated.h"

namespace thimble::tflite {
namespace {

constexpr uint16_t kWofMagic = 429;
constexpr uint8_t kWofVersion = 1;
constexpr uint32_t kEndMagic = 0x574d4854;  // "THMW"
constexpr uint32_t kEndVersion = 1;
constexpr size_t kWofHeader = 8;
constexpr size_t kWofEnd = 16;
constexpr uint32_t kWofNone = 0xffffffffU;
constexpr size_t kMostNamed =
    4;  // tensors in one message: those of a hostile file may share a name

void put_number(std::string& text, uint32_t number) {
  for (int i = 0; i < 4; ++i) text += static_cast<char>(number >> (8 * i) & 255U);
}

uint32_t wof_number(std::span<const std::byte> bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = 4; i-- > 0;) number = number << 8 | std::to_integer<uint32_t>(bytes[at + i]);
  return number;
}

uint32_t wof_checksum(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

// 0 where the reader does not know the type.
size_t weight_bytes(const TensorInfo& tensor) {
  return static_cast<size_t>(tensor.shape.elements()) * element_bytes(tensor.type);
}

template <class Vector>
uint64_t vector_bytes(const Vector* vector) {
  return vector == nullptr ? 0 : uint64_t{vector->size()} * sizeof(*vector->data());
}

template <class Vector, class Bytes>
uint64_t bytes_of_all(const Vector* tables, const Bytes& bytes_of) {
  uint64_t total = 0;
  for (uint32_t i = 0; tables != nullptr && i < tables->size(); ++i) {
    total += bytes_of(*tables->Get(i));
  }
  return total;
}

// What a copy of every vector of a file takes. Several tables of a hostile file may have the same
// vector, of which there would be many copies.
uint64_t copied_bytes(const Model& model) {
  const auto of_tensor = [](const Tensor& tensor) {
    const QuantizationParameters* const q = tensor.quantization();
    const uint64_t scales = q == nullptr
                                ? 0
                                : vector_bytes(q->min()) + vector_bytes(q->max()) +
                                      vector_bytes(q->scale()) + vector_bytes(q->zero_point());
    return vector_bytes(tensor.shape()) + vector_bytes(tensor.shape_signature()) +
           vector_bytes(tensor.name()) + scales;
  };
  const auto of_operator = [](const Operator& info) {
    const ReshapeOptions* const reshape = info.builtin_options_as_ReshapeOptions();
    const SqueezeOptions* const squeeze = info.builtin_options_as_SqueezeOptions();
    return vector_bytes(info.inputs()) + vector_bytes(info.outputs()) +
           vector_bytes(info.custom_options()) +
           (reshape == nullptr ? 0 : vector_bytes(reshape->new_shape())) +
           (squeeze == nullptr ? 0 : vector_bytes(squeeze->squeeze_dims()));
  };
  const auto of_graph = [&](const SubGraph& graph) {
    return bytes_of_all(graph.tensors(), of_tensor) + bytes_of_all(graph.operators(), of_operator) +
           vector_bytes(graph.inputs()) + vector_bytes(graph.outputs()) +
           vector_bytes(graph.name());
  };
  const auto of_map = [](const TensorMap& map) { return vector_bytes(map.name()); };
  const auto of_signature = [&](const SignatureDef& signature) {
    return bytes_of_all(signature.inputs(), of_map) + bytes_of_all(signature.outputs(), of_map) +
           vector_bytes(signature.signature_key()) + vector_bytes(signature.deprecated_tag());
  };
  const auto of_code = [](const OperatorCode& code) { return vector_bytes(code.custom_code()); };
  const auto of_buffer = [](const Buffer& buffer) { return vector_bytes(buffer.data()); };
  const auto of_metadata = [](const Metadata& entry) { return vector_bytes(entry.name()); };
  const auto of_external = [](const ExternalBuffer& e) { return vector_bytes(e.packing()); };
  const auto of_group = [](const ExternalBufferGroup& g) { return vector_bytes(g.name()); };
  return bytes_of_all(model.buffers(), of_buffer) + bytes_of_all(model.operator_codes(), of_code) +
         bytes_of_all(model.metadata(), of_metadata) +
         bytes_of_all(model.signature_defs(), of_signature) +
         bytes_of_all(model.external_buffers(), of_external) +
         bytes_of_all(model.external_buffer_groups(), of_group) +
         bytes_of_all(model.subgraphs(), of_graph);
}

// By tensor, whether it is a constant of the graph or emptied: no input, result or variable.
std::vector<bool> are_constants(const File& file) {
  std::vector<bool> constant(file.tensors().size(), true);
  for (size_t i = 0; i < constant.size(); ++i) constant[i] = !file.tensors()[i].is_variable;
  for (const int input : file.inputs()) constant[static_cast<size_t>(input)] = false;
  for (const OperatorInfo& info : file.operators()) {
    for (const int output : info.outputs) {
      if (output >= 0) constant[static_cast<size_t>(output)] = false;
    }
  }
  return constant;
}

// The weights that operators read and the file does not hold.
std::set<int> emptied_weights(const File& file, const std::vector<bool>& constant) {
  std::set<int> emptied;
  for (const OperatorInfo& info : file.operators()) {
    for (const int input : info.inputs) {
      if (input < 0 || !constant[static_cast<size_t>(input)]) continue;
      const TensorInfo& tensor = file.tensor(input);
      if (tensor.data.empty() && weight_bytes(tensor) > 0) emptied.insert(input);
    }
  }
  return emptied;
}

}  // namespace

uint32_t structure_of(const File& file) {
  std::string text;
  const auto add = [&text](const std::vector<int>& numbers) {
    put_number(text, static_cast<uint32_t>(numbers.size()));
    for (const int number : numbers) put_number(text, static_cast<uint32_t>(number));
  };
  for (const TensorInfo& tensor : file.tensors()) {
    put_number(text, static_cast<uint32_t>(tensor.type));
    add({tensor.shape.dims().begin(), tensor.shape.dims().end()});
  }
  for (const OperatorInfo& info : file.operators()) {
    put_number(text, static_cast<uint32_t>(info.code));
    add(info.inputs);
    add(info.outputs);
  }
  add(file.inputs());
  add(file.outputs());
  return wof_checksum(std::as_bytes(std::span(text)));
}

std::string wof_file(const File& file, const std::vector<int>& tensors, WofLayout layout) {
  const size_t count = file.tensors().size();
  std::vector<uint32_t> offsets(count, layout == WofLayout::landed ? 0U : kWofNone);
  std::string data;
  std::set<int> sorted(tensors.begin(), tensors.end());
  for (const int number : sorted) {
    const TensorInfo& tensor = file.tensor(number);
    if (tensor.data.empty()) {
      throw Error(file.name(),
                  fmt::format("tensor {} (\"{}\") has no weights to write", number, tensor.name));
    }
    offsets[static_cast<size_t>(number)] =
        static_cast<uint32_t>(kWofHeader + 4 * count + data.size());
    data.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
  }
  std::string text;
  put_number(text, kWofMagic | static_cast<uint32_t>(kWofVersion) << 16);
  put_number(text, static_cast<uint32_t>(count));
  for (const uint32_t offset : offsets) put_number(text, offset);
  text += data;
  put_number(text, kEndMagic);
  put_number(text, kEndVersion);
  put_number(text, structure_of(file));
  put_number(text, wof_checksum(std::as_bytes(std::span(text))));
  return text;
}

std::map<int, std::span<const std::byte>> read_wof(const std::string& name,
                                                   std::span<const std::byte> bytes,
                                                   const File& model) {
  const auto fail = [&name](const std::string& message) { throw Error(name, message); };
  const size_t count = model.tensors().size();
  if (bytes.size() < kWofHeader || bytes.size() >= kWofNone)
    fail("is no wof file: it is too short");
  if ((wof_number(bytes, 0) & 0xffffU) != kWofMagic) {
    fail(fmt::format("is no wof file: expected {} as its first number, got {}", kWofMagic,
                     wof_number(bytes, 0) & 0xffffU));
  }
  if (std::to_integer<uint8_t>(bytes[2]) != kWofVersion) {
    fail(fmt::format("version: expected {}, got {}", kWofVersion,
                     std::to_integer<unsigned>(bytes[2])));
  }
  if (wof_number(bytes, 4) != count) {
    fail(
        fmt::format("has buffers for {} tensors; {} has {}. A checkpoint of onert-micro, which "
                    "begins alike, is no wof file",
                    wof_number(bytes, 4), model.name(), count));
  }
  const size_t first = kWofHeader + 4 * count;
  if (bytes.size() < first) fail("ends within its table of offsets");
  size_t end = bytes.size();
  if (end >= first + kWofEnd && wof_number(bytes, end - kWofEnd) == kEndMagic) {
    end -= kWofEnd;
    if (wof_number(bytes, end + 12) != wof_checksum(bytes.first(end + 12))) {
      fail("is damaged: its checksum is wrong");
    }
    if (wof_number(bytes, end + 8) != structure_of(model)) {
      fail(fmt::format("was made for a model of another structure than {}", model.name()));
    }
  }
  const std::vector<bool> constant = are_constants(model);
  std::map<int, std::span<const std::byte>> buffers;
  std::map<size_t, size_t> taken;  // from, to
  for (size_t k = 0; k < count; ++k) {
    const uint32_t offset = wof_number(bytes, kWofHeader + 4 * k);
    if (offset == 0 || offset == kWofNone) continue;
    const size_t size = weight_bytes(model.tensors()[k]);
    if (size == 0 || !constant[k]) {
      fail(fmt::format("has a buffer for tensor {}, which takes no weights", k));
    }
    if (offset < first || offset > end || size > end - offset) {
      fail(
          fmt::format("the buffer of tensor {}, {} bytes from byte {} on, lies outside of the "
                      "file's data",
                      k, size, offset));
    }
    const auto [place, is_new] = taken.emplace(offset, offset + size);
    const auto next = std::next(place);
    const bool overlaps = (next != taken.end() && next->first < offset + size) ||
                          (place != taken.begin() && std::prev(place)->second > offset);
    if (!is_new || overlaps) {
      fail(fmt::format("the buffer of tensor {} at byte {} lies over another one", k, offset));
    }
    buffers[static_cast<int>(k)] = bytes.subspan(offset, size);
  }
  const size_t last = taken.empty() ? first : taken.rbegin()->second;
  if (last != end) {
    fail(
        fmt::format("has {} bytes behind its last buffer, which are neither none nor a whole "
                    "checksum of {}: it was cut or damaged",
                    bytes.size() - last, kWofEnd));
  }
  std::string lacking;
  size_t missing = 0;
  for (const int number : emptied_weights(model, constant)) {
    if (buffers.count(number) > 0 || ++missing > kMostNamed) continue;
    lacking +=
        fmt::format("{}{} (\"{}\")", missing > 1 ? ", " : "", number, model.tensor(number).name);
  }
  if (missing > kMostNamed) lacking += fmt::format(" and {} more", missing - kMostNamed);
  if (missing > 0) {
    fail(
        fmt::format("has no weights for these tensors, which {} lacks: {}. Take the model that was "
                    "configured with these weights, or the one before it was configured",
                    model.name(), lacking));
  }
  return buffers;
}

std::string with_contents(const File& file,
                          const std::map<int, std::span<const std::byte>>& contents) {
  const auto fail = [&file](int number, const std::string& message) {
    throw Error(file.name(), fmt::format("tensor {}: {}", number, message));
  };
  const Model& table = *GetModel(file.bytes().data());
  if (copied_bytes(table) > 2 * uint64_t{file.bytes().size()}) {  // names may be shared
    throw Error(file.name(), "has buffers or other vectors that overlap");
  }
  ModelT model;
  table.UnPackTo(&model);
  if (std::any_of(model.buffers.begin(), model.buffers.end(),
                  [](const auto& buffer) { return buffer->offset > 1; })) {
    throw Error(file.name(), "holds buffers behind its tables, which is not rewritten");
  }
  std::vector<std::unique_ptr<TensorT>>& tensors = model.subgraphs.at(0)->tensors;
  std::map<uint32_t, int> users;
  for (const auto& graph : model.subgraphs) {
    for (const auto& tensor : graph->tensors) ++users[tensor->buffer];
    // A file may name the type of options that it leaves out. The writer would read them.
    for (const auto& node : graph->operators) {
      if (node->builtin_options.value == nullptr) node->builtin_options.Reset();
    }
  }
  for (const auto& [number, bytes] : contents) {
    if (number < 0 || static_cast<size_t>(number) >= tensors.size()) fail(number, "is not there");
    const TensorInfo& info = file.tensor(number);
    if (!bytes.empty() && bytes.size() != weight_bytes(info)) {
      fail(number, fmt::format("takes {} bytes, got {}", weight_bytes(info), bytes.size()));
    }
    TensorT& tensor = *tensors[static_cast<size_t>(number)];
    if (tensor.buffer == 0 || users[tensor.buffer] > 1) {
      --users[tensor.buffer];
      model.buffers.push_back(std::make_unique<BufferT>());
      tensor.buffer = static_cast<uint32_t>(model.buffers.size() - 1);
      users[tensor.buffer] = 1;
    }
    const auto* const from = reinterpret_cast<const uint8_t*>(bytes.data());
    model.buffers.at(tensor.buffer)->data.assign(from, from + bytes.size());
  }
  flatbuffers::FlatBufferBuilder builder(file.bytes().size());
  builder.Finish(Model::Pack(builder, &model), file.is_circle() ? "CIR0" : "TFL3");
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

}  // namespace thimble::tflite
