// Enumerations that models and layers share, and the version.
#pragma once

#include <string>
#include <tuple>

#include <nntrainer-api-common.h>

namespace ml::train {

// How a layer or model writes what it is.
enum class ExportMethods {
  METHOD_STRINGVECTOR = 0,
  METHOD_TFLITE = 1,
  METHOD_FLATBUFFER = 2,
  METHOD_UNDEFINED = 999,
};

// What a model is compiled and initialized for.
enum class ExecutionMode {
  TRAIN = 0,
  INFERENCE = 1,
  VALIDATE = 2,
};

// Where a layer runs. Only CPU is offered.
enum LayerComputeEngine {
  CPU = 0,
  GPU = 1,
  QNN = 2,
};

// The version of the interface: its text, and major, minor and micro.
[[nodiscard]] std::string getVersion();
[[nodiscard]] std::string getVersion(const std::string& app_name);
void getVersion(unsigned int* major, unsigned int* minor, unsigned int* micro);

}  // namespace ml::train
