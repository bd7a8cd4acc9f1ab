// Any bytes as a wof file and the model that it is of: a model with these weights, which is a file
// of the same structure, or an Error that names one of the files.
//   wof bytes (32 bits), wof, model
#include <thimble/error.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "import/tflite/weights_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thimble;
  uint32_t wof_bytes = 0;
  if (size < sizeof(wof_bytes)) return 0;
  std::memcpy(&wof_bytes, data, sizeof(wof_bytes));
  data += sizeof(wof_bytes);
  size -= sizeof(wof_bytes);
  if (wof_bytes > size) return 0;
  try {
    const tflite::File model =
        tflite::File::parse("model", std::vector<char>(data + wof_bytes, data + size));
    const std::vector<char> wof(data, data + wof_bytes);
    const auto contents = tflite::read_wof("wof", std::as_bytes(std::span(wof)), model);
    const std::string made = tflite::with_contents(model, contents);
    const tflite::File again =
        tflite::File::parse("again", std::vector<char>(made.begin(), made.end()));
    if (tflite::structure_of(again) != tflite::structure_of(model)) std::abort();
  } catch (const Error& error) {
    if (error.where() != "model" && error.where() != "wof") std::abort();
  }
  return 0;
}
