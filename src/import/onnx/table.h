// The operators that the importer knows, by family.
#pragma once

#include <map>
#include <string>

#include "import/onnx/node.h"

namespace thimble::importer::onnx {

struct Conversion {
  void (*convert)(Node& node) = nullptr;
  bool folds = true;  // computed at import where all inputs are known
};
using Conversions = std::map<std::string, Conversion>;

// Null: thimble has no such operator.
[[nodiscard]] const Conversion* find_conversion(const std::string& domain, const std::string& op);

// One function a file.
void add_constants(Conversions& table);
void add_elementwise(Conversions& table);
void add_activations(Conversions& table);
void add_reductions(Conversions& table);
void add_convolutions(Conversions& table);
void add_pooling(Conversions& table);
void add_norms(Conversions& table);
void add_shapes(Conversions& table);
void add_movement(Conversions& table);
void add_indexing(Conversions& table);
void add_products(Conversions& table);
void add_attention(Conversions& table);
void add_recurrent(Conversions& table);
void add_quantized(Conversions& table);
void add_losses(Conversions& table);
void add_resizing(Conversions& table);
// Of the domain kOwnDomain.
void add_own(Conversions& table);

}  // namespace thimble::importer::onnx
