// Results of PyTorch: tests/train/optimizer_goldens.json, made by scripts/goldens_optimizers.py.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace thimble::test {

inline const nlohmann::json& optimizer_goldens() {
  static const nlohmann::json goldens = [] {
    std::ifstream file(std::string(THIMBLE_SOURCE_DIR) + "/tests/train/optimizer_goldens.json");
    return nlohmann::json::parse(file);
  }();
  return goldens;
}

}  // namespace thimble::test
