#include "import/formats.h"

#include <fmt/format.h>
#include <thimble/error.h>
#include <thimble/import.h>

#include <filesystem>
#include <fstream>

#include "import/hugging_face/model.h"
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

// A folder with config.json and safetensors, or that file.
bool is_hugging_face(const std::string& path, std::string_view /*beginning*/) {
  std::error_code error;
  const std::filesystem::path file(path);
  return std::filesystem::is_directory(file, error) || file.filename() == hugging_face::kConfig;
}

Graph read_hugging_face(const std::string& path, const std::map<std::string, int64_t>& dims) {
  HuggingFaceOptions options;
  for (const auto& [name, size] : dims) {
    if (name != "tokens") {
      throw Error(path, fmt::format("there is no dimension \"{}\"; that of Hugging Face models is "
                                    "tokens, those of a sample",
                                    name));
    }
    options.tokens = size;
  }
  return import_hugging_face(path, options);
}

std::vector<std::string> hugging_face_weights(const std::string& path) {
  const std::filesystem::path file(path);
  return hugging_face::weight_files(
      (std::filesystem::is_directory(file) ? file : file.parent_path()).string());
}

// Formats that are known by their bytes stand before those that are known by a name.
const Format kFormats[] = {
    {"Hugging Face: a folder with config.json and model.safetensors", is_hugging_face,
     [](const std::string& path) { return read_hugging_face(path, {}); }, hugging_face_weights,
     read_hugging_face},
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
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return {};
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
