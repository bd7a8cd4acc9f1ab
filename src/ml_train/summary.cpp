// The table of a model's layers.
#include <algorithm>
#include <iomanip>
#include <ostream>

#include "ml_train/model_node.h"

namespace thimble::ml_train {
namespace {

constexpr int kColumn = 20;

void print_row(std::ostream& out, const std::vector<std::string>& cells) {
  for (const std::string& cell : cells) out << std::setw(kColumn) << cell.substr(0, kColumn - 1);
  out << "\n";
}

}  // namespace

void ModelNode::summarize(std::ostream& out, ml_train_summary_type_e verbosity) {
  if (layers_.empty()) {
    out << "model is empty!\n";
    return;
  }
  std::vector<Node> nodes = nodes_;
  if (!compiled_) {
    for (const auto& layer : layers_) nodes.push_back({layer, {}, layer->getName()});
  }
  const std::string rule(4 * kColumn, '=');
  const auto flags = out.flags();
  out << std::right << rule << "\n";
  print_row(out, {"Layer name", "Layer type", "Output dimension", "Input layer"});
  out << rule << "\n";
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    std::string dim;
    if (initialized_ && !network_.dims[i].empty()) dim = "1:" + to_string(network_.dims[i][0]);
    print_row(out, {node.name(), node.layer->getType(), dim,
                    node.inputs.empty() ? "" : node.inputs[0].layer});
    for (size_t k = 1; k < node.inputs.size(); ++k)
      print_row(out, {"", "", "", node.inputs[k].layer});
    if (verbosity >= ML_TRAIN_SUMMARY_LAYER) {
      for (const auto& [key, value] : node.layer->props().given())
        out << "  " << key << " = " << value << "\n";
    }
    if (verbosity >= ML_TRAIN_SUMMARY_TENSOR) {
      for (const Weight* weight : node.layer->weights()) {
        const Dims& d = weight->dims;
        out << "  " << weight->name << " " << d[0] << ":" << d[1] << ":" << d[2] << ":" << d[3]
            << (weight->trainable ? "" : " (not trained)") << "\n";
      }
    }
    out << (i + 1 < nodes.size() ? std::string(4 * kColumn, '-') : rule) << "\n";
  }
  out.flags(flags);
}

}  // namespace thimble::ml_train
