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
  std::map<int, std::span<const std::byte>> buffers;
  std::map<size_t, size_t> taken;  // from, to
  for (size_t k = 0; k < count; ++k) {
    const uint32_t offset = wof_number(bytes, kWofHeader + 4 * k);
    if (offset == 0 || offset == kWofNone) continue;
    const size_t size = weight_bytes(model.tensors()[k]);
    if (size == 0) fail(fmt::format("has a buffer for tensor {}, which takes no weights", k));
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
  return buffers;
}

std::string with_contents(const File& file,
                          const std::map<int, std::span<const std::byte>>& contents) {
  const auto fail = [&file](int number, const std::string& message) {
    throw Error(file.name(), fmt::format("tensor {}: {}", number, message));
  };
  const Model& table = *GetModel(file.bytes().data());
  // Several buffers of a hostile file may be the same bytes, of which there would be many copies.
  uint64_t total = 0;
  for (uint32_t i = 0; table.buffers() != nullptr && i < table.buffers()->size(); ++i) {
    const auto* const data = table.buffers()->Get(i)->data();
    total += data == nullptr ? 0 : data->size();
  }
  if (total > file.bytes().size()) throw Error(file.name(), "has buffers that overlap");
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
