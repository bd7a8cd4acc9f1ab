// A memory plan of any size that looks like that of a deep network, to test pages with more buffers
// than any recipe has.
#pragma once

#include <thimble/plan.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace thimble::test {

// Activations lie on a stack that grows through the forward part and shrinks through the backward
// part, with a workspace and a gradient above it at every op. Every third activation is given up in
// between: alternately recomputed and read back. A little more than 4 buffers a layer.
inline Plan large_plan(int layers) {
  Plan plan;
  const int ops = 2 * layers;
  uint32_t seed = 1;
  const auto bytes_up_to = [&seed](int64_t most) {
    seed = seed * 1664525U + 1013904223U;
    return 64 * (1 + static_cast<int64_t>(seed >> 8) % (most / 64));
  };
  const auto add = [&plan](const std::string& name, const char* role, int64_t bytes, int64_t offset,
                           int birth, int death, Made made = Made::first) {
    plan.buffers.push_back(
        {name, role, DType::f32, Shape{bytes / 4}, bytes, offset, birth, death, made});
    plan.arena_bytes = std::max(plan.arena_bytes, offset + bytes);
  };
  int64_t stack = 0;
  std::vector<int64_t> tops;
  for (int i = 0; i < layers; ++i) {
    const std::string name = "block." + std::to_string(i / 8) + ".part" + std::to_string(i % 8);
    const int64_t bytes = bytes_up_to(1 << 20), backward = ops - i;
    const int death = static_cast<int>(backward);
    if (i % 3 != 2) {
      add(name, "activation", bytes, stack, i, death);
    } else {
      add(name, "activation", bytes, stack, i, i + 2);
      add(name + " (recomputed)", "activation", bytes, stack, std::max(death - 2, i + 2), death,
          i % 2 == 0 ? Made::recomputed : Made::fetched);
    }
    stack += bytes;
    tops.push_back(stack);
  }
  for (int op = 0; op < ops; ++op) {
    const int layer = op < layers ? op : ops - 1 - op;
    const int64_t top = tops[static_cast<size_t>(layer)], workspace = bytes_up_to(1 << 19);
    const std::string name =
        "block." + std::to_string(layer / 8) + ".part" + std::to_string(layer % 8);
    add(name + "/work", "workspace", workspace, top, op, op + 1);
    if (op >= layers) {
      add(name + ".gradient", "gradient", bytes_up_to(1 << 20), top + workspace, op, op + 1);
    }
    plan.steps.push_back({op < layers ? "conv2d" : "conv2d_input_grad", name, 0});
  }
  for (const PlanBuffer& buffer : plan.buffers) {
    for (int op = buffer.birth; op < buffer.death && op < ops; ++op) {
      plan.steps[static_cast<size_t>(op)].live_bytes += buffer.bytes;
    }
  }
  for (int op = 0; op < ops; ++op) {
    const auto live = [&plan](int at) { return plan.steps[static_cast<size_t>(at)].live_bytes; };
    if (live(op) > live(plan.peak_step)) plan.peak_step = op;
  }
  plan.batch = 32;
  plan.parameter_bytes = plan.arena_bytes / 8;
  plan.state_bytes = 2 * plan.parameter_bytes;
  plan.staging_bytes = int64_t{8} << 20;
  plan.input_pipeline_bytes = int64_t{1} << 20;
  plan.planned_peak_bytes =
      plan.arena_bytes + plan.parameter_bytes + plan.state_bytes + plan.staging_bytes;
  plan.lower_bound_bytes = plan.planned_peak_bytes;
  plan.budget_bytes = plan.planned_peak_bytes + plan.input_pipeline_bytes + (int64_t{4} << 20);
  plan.strategies = {
      {"own memory for every buffer", "", 0, 9 * plan.planned_peak_bytes, 0.0, 0, 0.0, true},
      {"memory reuse", "buffers that do not live at once share their places",
       7 * plan.planned_peak_bytes, 2 * plan.planned_peak_bytes, 0.0, 0, 0.0, true},
      {"recomputation", "every sixth activation", plan.planned_peak_bytes / 2,
       3 * plan.planned_peak_bytes / 2, 1.25e9, 0, 3.5, true},
      {"bf16 activations", "every value that waits for the backward part",
       plan.planned_peak_bytes / 4, 5 * plan.planned_peak_bytes / 4, 0.0, 0, 1.25, false},
      {"swap", "every sixth activation", plan.planned_peak_bytes / 4, plan.planned_peak_bytes, 0.0,
       int64_t{300} << 20, 12.0, true}};
  return plan;
}

}  // namespace thimble::test
