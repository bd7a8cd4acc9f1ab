#include "import/onnx/table.h"

namespace thimble::importer::onnx {

const Conversion* find_conversion(const std::string& domain, const std::string& op) {
  static const Conversions table = [] {
    Conversions made;
    add_constants(made);
    add_elementwise(made);
    add_activations(made);
    add_reductions(made);
    add_convolutions(made);
    add_pooling(made);
    add_norms(made);
    add_shapes(made);
    add_movement(made);
    add_indexing(made);
    add_products(made);
    add_attention(made);
    add_recurrent(made);
    add_quantized(made);
    add_losses(made);
    add_resizing(made);
    return made;
  }();
  static const Conversions own = [] {
    Conversions made;
    add_own(made);
    return made;
  }();
  if (!domain.empty() && domain != kOwnDomain) return nullptr;
  const Conversions& all = domain.empty() ? table : own;
  const auto found = all.find(op);
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace thimble::importer::onnx
