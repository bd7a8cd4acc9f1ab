#include "import/formats.h"

#include <fmt/format.h>
#include <thimble/error.h>
#include <thimble/import.h>

#include <fstream>

#include "import/quantized_json.h"

namespace thimble {
namespace importer {
namespace {

bool is_json(const std::string& path, std::string_view beginning) {
  const size_t first = beginning.find_first_not_of(" \t\r\n");
  return path.ends_with(".json") || (first != std::string_view::npos && beginning[first] == '{');
}

bool is_tflite(const std::string& /*path*/, std::string_view beginning) {
  if (beginning.size() < 8) return false;
  const std::string_view identifier = beginning.substr(4, 4);
  return identifier == "TFL3" || identifier == "CIR0";
}

// A protobuf message that begins with a small version number, and then a name, a graph or versions.
bool is_onnx(const std::string& path, std::string_view beginning) {
  if (path.ends_with(".onnx")) return true;
  return beginning.size() > 3 && beginning[0] == 8 && beginning[1] > 0 && beginning[1] < 32 &&
         (beginning[2] == 0x12 || beginning[2] == 0x3a || beginning[2] == 0x42);
}

// Formats that are known by their bytes stand before those that are known by a name.
const Format kFormats[] = {
    {"TensorFlow Lite or circle: NAME.tflite, NAME.circle", is_tflite, import_tflite, nullptr},
    {"ONNX: NAME.onnx", is_onnx, [](const std::string& path) { return import_onnx(path); }, nullptr,
     [](const std::string& path, const std::map<std::string, int64_t>& dims) {
       return import_onnx(path, {.dims = dims});
     }},
    {"a quantized network in JSON: NAME.json with NAME.safetensors beside it", is_json,
     import_quantized_json,
     [](const std::string& path) -> std::vector<std::string> {
       return {quantized_json_weights(path)};
     }},
};

std::string beginning_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(path, "there is no such file, or it cannot be read");
  std::string bytes(kBeginning, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (file.bad()) throw Error(path, "cannot be read");
  bytes.resize(static_cast<size_t>(file.gcount()));
  return bytes;
}

}  // namespace

const Format* format_of(const std::string& path) {
  const std::string beginning = beginning_of(path);
  for (const Format& format : kFormats) {
    if (format.matches(path, beginning)) return &format;
  }
  return nullptr;
}

std::string known_formats() {
  std::string all;
  for (const Format& format : kFormats) {
    all += fmt::format("{}{}", all.empty() ? "" : "; ", format.files);
  }
  return all;
}

}  // namespace importer

Graph import_model(const std::string& path) {
  const importer::Format* const format = importer::format_of(path);
  if (format == nullptr) {
    throw Error(
        path, fmt::format("expected the model of another program ({})", importer::known_formats()));
  }
  return format->read(path);
}

}  // namespace thimble
