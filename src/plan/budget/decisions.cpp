#include "plan/budget/decisions.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <nlohmann/json.hpp>

namespace thimble::plan {
namespace {

constexpr int kVersion = 2;

std::string counted(size_t count, const char* one, const char* many) {
  return count == 0 ? "" : fmt::format("; {} {}", count, count == 1 ? one : many);
}

}  // namespace

std::string summary(const StepDecisions& decisions) {
  std::string text = decisions.tiled_updates ? "tiled updates" : "whole updates";
  if (decisions.micro_batches > 1) {
    text = fmt::format("{} micro-batches; {}", decisions.micro_batches, text);
  }
  text += counted(decisions.stored_in_16_bits.size(), "value in 16 bits", "values in 16 bits");
  text += counted(decisions.bit_masks.size(), "bit mask", "bit masks");
  text += counted(decisions.recomputed.size(), "node recomputed", "nodes recomputed");
  if (decisions.swap) {
    text += counted(decisions.swap->transfers.items.size(), "value swapped", "values swapped");
    text += fmt::format("; {} B of staging", decisions.swap->staging_bytes);
  }
  return text;
}

using nlohmann::json;

static void to_json(json& to, Recompute how) { to = how == Recompute::once ? "once" : "each"; }
static void from_json(const json& from, Recompute& how) {
  const std::string text = from;
  if (text != "once" && text != "each") {
    throw Error("decisions",
                "a node is recomputed \"once\" or for \"each\" reader, not \"" + text + "\"");
  }
  how = text == "once" ? Recompute::once : Recompute::each;
}

// Writes and reads these fields by their names.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SwapDecisions::Item, item, name, gaps)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SwapDecisions::Move, read_at, written_at)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SwapDecisions, smallest_bytes, in_file, items, moves)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepDecisions::Swapping, staging_bytes, transfers)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepDecisions::Recomputed, node, name, how)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepDecisions, micro_batches, stored_in_16_bits, bit_masks,
                                   tiled_updates, order, recomputed)

std::string to_json(const StepDecisions& decisions) {
  json to = decisions;
  to["version"] = kVersion;
  if (decisions.swap) to["swap"] = *decisions.swap;
  return to.dump();
}

StepDecisions decisions_from_json(const std::string& text) {
  try {
    const json from = json::parse(text);
    if (from.at("version") != kVersion) {
      throw Error("decisions",
                  fmt::format("version {} is not {}", from.at("version").dump(), kVersion));
    }
    StepDecisions decisions = from;
    if (from.contains("swap")) {
      StepDecisions::Swapping swap;
      decisions.swap = from.at("swap").get_to(swap);
    }
    return decisions;
  } catch (const json::exception& error) {
    throw Error("decisions", std::string("no decisions of a step: ") + error.what());
  }
}

}  // namespace thimble::plan
