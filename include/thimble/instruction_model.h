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
  // The kinds of work, each with a cost of its own for every core.
  enum class Kind : uint8_t {
    int8_products,    // multiply-accumulates of int8, such as a quantized convolution's
    mixed_products,   // of int8 and f32: gradients of quantized layers
    f32_products,     // of f32
    int8_elements,    // of ops without products, whose results are integers
    f32_elements,     // of ops without products
    integer_updates,  // whole numbers that an optimizer changes
    f32_updates       // real numbers that it changes
  };
  std::string op;
  std::string layer;  // empty if it belongs to none
  std::string value;  // that it computes
  Kind kind = Kind::f32_elements;
  double units = 0.0;    // of that kind
  double results = 0.0;  // elements that an op with products stores
  double instructions = 0.0;
};

struct StepInstructions {
  std::vector<OpInstructions> ops;  // in the order of the step
  [[nodiscard]] double total() const;
};

// The instructions of an op are call + units * cost of the kind + results * cost of a result; those
// of a step are their sum. Costs were fitted to steps that ran in QEMU (bench/quality,
// docs/guide/sparse-updates.md). What is computed again to save memory is not counted. Throws Error
// as Trainer does.
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
