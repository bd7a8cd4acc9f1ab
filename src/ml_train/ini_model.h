// Models in INI files.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ml_train/dataset_node.h"
#include "ml_train/layer_node.h"
#include "ml_train/optimizer_node.h"

namespace thimble::ml_train {

// What an INI file says.
struct IniModel {
  std::vector<std::pair<std::string, std::string>> properties;  // of the model
  std::shared_ptr<OptimizerNode> optimizer;                     // null: none
  std::vector<std::pair<ml::train::DatasetModeType, std::shared_ptr<DatasetNode>>> datasets;
  std::vector<std::shared_ptr<LayerNode>> layers;  // with the property name
};

// folder: that of the file, with which relative paths begin. Files that the text names are opened.
// Throws std::invalid_argument naming the file and the section at fault.
[[nodiscard]] IniModel read_ini_model(std::string_view text, const std::string& where,
                                      const std::string& folder);

}  // namespace thimble::ml_train
