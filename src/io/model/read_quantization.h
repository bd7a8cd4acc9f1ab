// The quantization of a value in a model file.
#pragma once

#include <thimble/quantization.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace thimble::io {

// Throws Error naming file and field; whether it fits a type is checked where that is known.
[[nodiscard]] std::shared_ptr<const Quantization> read_quantization(const std::string& file,
                                                                    const std::string& path,
                                                                    const nlohmann::json& object);

}  // namespace thimble::io
