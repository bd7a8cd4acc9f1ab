// The quantized network in JSON, from memory.
#pragma once

#include <thimble/graph.h>

#include <string>
#include <string_view>

#include "io/safetensors/safetensors.h"

namespace thimble::importer {

// As thimble::import_quantized_json; path: the file that errors name.
[[nodiscard]] Graph quantized_json(const std::string& path, std::string_view text,
                                   io::Safetensors weights);

// The file with the weights of the network in `path`, whether it exists or not.
[[nodiscard]] std::string quantized_json_weights(const std::string& path);

}  // namespace thimble::importer
