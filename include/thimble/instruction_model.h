// Predicted instructions of a training step on a microcontroller, and schemes that keep a limit.
#pragma once

#include <thimble/graph.h>
#include <thimble/scheme_search.h>
#include <thimble/trainer_options.h>

#include <cstdint>
#include <string>
#include <vector>

namespace thimble {

// What the exported C runs on, compiled as scripts/qemu.sh does.
enum class Core : uint8_t { cortex_m4, cortex_m7, cortex_m55 };

// One op of a step and what its instructions are predicted from.
struct OpInstructions {
  // The kinds of work, each with costs of its own for every core. Multiply-accumulates of int8 are
  // those of quantized layers; mixed ones, of int8 and f32, are those of their gradients. Both run
  // in one of five loops.
  enum class Kind : uint8_t {
    int8_tiles,             // several pixels by several channels
    int8_depthwise,         // windows of one channel side by side
    int8_rows,              // one row by all weights, as in a dense layer at batch 1
    int8_plain,             // one after another; results of fixed point or with other bounds
    int8_plain_depthwise,   // likewise, where each channel reads itself
    mixed_tiles,            // the same loops of gradients
    mixed_depthwise,        //
    mixed_rows,             //
    mixed_plain,            //
    mixed_plain_depthwise,  //
    f32_products,           // multiply-accumulates of f32
    windows,                // numbers of images that pools and their gradients read or write
    int8_elements,          // of other ops without products, whose results are integers
    f32_elements,           // of other ops without products
    integer_updates,        // whole numbers that an optimizer changes
    f32_updates             // real numbers that it changes
  };
  struct Work {
    Kind kind = Kind::f32_elements;
    double units = 0.0;  // of that kind
    // Of products: elements that they are summed up in. Of updates: numbers of the parameter that
    // are not trained, and of the optimizer's state.
    double results = 0.0;
  };
  std::string op;
  std::string layer;  // empty if it belongs to none
  std::string value;  // that it computes
  std::vector<Work> work;
  double instructions = 0.0;
};

struct StepInstructions {
  std::vector<OpInstructions> ops;  // in the order of the step
  [[nodiscard]] double total() const;
};

// The instructions of an op are call + units * cost of a unit + results * cost of a result, summed
// over its kinds of work; those of a step are their sum. Ops are those of exported C, which
// computes some convolutions row by row. Costs were fitted to steps that ran in QEMU
// (bench/quality, docs/guide/sparse-updates.md). What is computed again to save memory is not
// counted. Throws Error as Trainer does.
[[nodiscard]] StepInstructions predict_instructions(const Graph& graph,
                                                    const TrainerOptions& options, Core core);

struct InstructionLimit {
  Core core = Core::cortex_m7;
  double instructions = 0.0;  // most of a step
};

// search_scheme (thimble/scheme_search.h) among the schemes whose step keeps the limit, too. Throws
// Error also where the last layer alone takes more.
[[nodiscard]] FoundScheme search_scheme(const Graph& graph, const Contributions& contributions,
                                        const SchemeSearchOptions& options,
                                        const InstructionLimit& limit);

}  // namespace thimble
