// Options that make a model ready for a training of one's own.
#pragma once

#include <thimble/adapt.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace thimble::cli {

struct AdaptArguments {
  AdaptOptions adapt;
  std::string head;
  std::string lora_text;    // as given; empty: no new adapters
  std::string lora_folder;  // of adapters to read
  bool merges_lora = false;
  std::string base;  // the type that weights are stored in; empty: as they are

  void add_to(CLI::App& command);
  // Whether any of them was given.
  [[nodiscard]] bool any() const;
  // The model with these changes. Throws UsageError where they contradict it.
  [[nodiscard]] Graph applied(const Graph& graph) const;
};

// Adds --lora SETTINGS: "rank=8,alpha=16,targets=q_proj,v_proj".
CLI::Option* add_lora_option(CLI::App& command, std::string& settings);
// The model with new adapters of these settings. Throws Error.
[[nodiscard]] Graph with_adapters(const Graph& graph, const std::string& settings);

}  // namespace thimble::cli
