// Attributes that the ops of attention and of rotary embeddings keep to themselves.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace thimble::importer {

struct AttentionSettings final : ir::FieldVisitor {
  bool causal = false;
  bool interleaved = false;
  double scale = 1.0;

  explicit AttentionSettings(const ir::Node& node) { node.attrs.visit(*this); }

  void field(const char* name, bool& value, const char* /*doc*/) override {
    if (std::string_view(name) == "causal") causal = value;
    if (std::string_view(name) == "interleaved") interleaved = value;
  }
  void field(const char* name, double& value, const char* /*doc*/) override {
    if (std::string_view(name) == "scale") scale = value;
  }
  void field(const char*, int64_t&, const char*) override {}
  void field(const char*, Pair&, const char*) override {}
  void field(const char*, Padding&, const char*) override {}
  void field(const char*, std::vector<int64_t>&, const char*) override {}
  void field(const char*, Shape&, const char*) override {}
  void field(const char*, DType&, const char*) override {}
  void choice(const char*, int&, std::span<const char* const>, const char*) override {}
};

}  // namespace thimble::importer
