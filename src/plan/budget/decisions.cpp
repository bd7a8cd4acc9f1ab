#include "plan/budget/decisions.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <nlohmann/json.hpp>

namespace thimble::plan {
namespace {

using json = nlohmann::ordered_json;

constexpr int kVersion = 2;
constexpr const char* kHow[] = {"no", "once", "each"};

Recompute how_of(const std::string& text) {
  for (const Recompute how : {Recompute::once, Recompute::each}) {
    if (text == kHow[static_cast<size_t>(how)]) return how;
  }
  throw Error("decisions",
              "a node is recomputed \"once\" or for \"each\" reader, not \"" + text + "\"");
}

json transfers_json(const StepDecisions::Swapping& swap) {
  json items = json::array();
  for (const SwapDecisions::Item& item : swap.transfers.items) {
    items.push_back({{"item", item.item}, {"name", item.name}, {"gaps", item.gaps}});
  }
  json moves = json::array();
  for (const SwapDecisions::Move& move : swap.transfers.moves) {
    moves.push_back({move.read_at, move.written_at});
  }
  return {{"staging_bytes", swap.staging_bytes},
          {"smallest_bytes", swap.transfers.smallest_bytes},
          {"in_file", swap.transfers.in_file},
          {"items", items},
          {"moves", moves}};
}

StepDecisions::Swapping transfers_of(const json& from) {
  StepDecisions::Swapping swap;
  from.at("staging_bytes").get_to(swap.staging_bytes);
  from.at("smallest_bytes").get_to(swap.transfers.smallest_bytes);
  from.at("in_file").get_to(swap.transfers.in_file);
  for (const json& item : from.at("items")) {
    swap.transfers.items.push_back({item.at("item"), item.at("name"), item.at("gaps")});
  }
  for (const json& move : from.at("moves")) {
    swap.transfers.moves.push_back({move.at(0), move.at(1)});
  }
  return swap;
}

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

std::string to_json(const StepDecisions& decisions) {
  json recomputed = json::array();
  for (const StepDecisions::Recomputed& each : decisions.recomputed) {
    recomputed.push_back(
        {{"node", each.node}, {"name", each.name}, {"how", kHow[static_cast<size_t>(each.how)]}});
  }
  return json{{"version", kVersion},
              {"micro_batches", decisions.micro_batches},
              {"stored_in_16_bits", decisions.stored_in_16_bits},
              {"bit_masks", decisions.bit_masks},
              {"tiled_updates", decisions.tiled_updates},
              {"order", decisions.order},
              {"recomputed", recomputed},
              {"swap", decisions.swap ? transfers_json(*decisions.swap) : json()}}
      .dump();
}

StepDecisions decisions_from_json(const std::string& text) {
  try {
    const json from = json::parse(text);
    if (from.at("version") != kVersion) {
      throw Error("decisions",
                  fmt::format("version {} is not {}", from.at("version").dump(), kVersion));
    }
    StepDecisions decisions;
    from.at("micro_batches").get_to(decisions.micro_batches);
    from.at("stored_in_16_bits").get_to(decisions.stored_in_16_bits);
    from.at("bit_masks").get_to(decisions.bit_masks);
    from.at("tiled_updates").get_to(decisions.tiled_updates);
    from.at("order").get_to(decisions.order);
    for (const json& each : from.at("recomputed")) {
      decisions.recomputed.push_back({each.at("node"), each.at("name"), how_of(each.at("how"))});
    }
    if (!from.at("swap").is_null()) decisions.swap = transfers_of(from.at("swap"));
    return decisions;
  } catch (const json::exception& error) {
    throw Error("decisions", std::string("no decisions of a step: ") + error.what());
  }
}

}  // namespace thimble::plan
