// Any bytes as an INI model of NNTrainer: a network in order, or std::invalid_argument. Its sizes
// are limited, so that nothing large is built.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "ml_train/ini_model.h"
#include "ml_train/network.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thimble::ml_train;
  if (size > 4096) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    IniModel model = read_ini_model(text, "m.ini", "/nowhere");
    for (const auto& layer : model.layers) layer->set_name(layer->props().choice("name"));
    static_cast<void>(make_network(model.layers, {.loss = "mse"}));
    if (model.optimizer) static_cast<void>(model.optimizer->optimizer());
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
