// The parts of an op's definition (OpDef), each of which answers one kind of question.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/kernel.h"
#include "ir/op_context.h"

namespace thimble::ir {

// What users and importers see.
struct Signature {
  const char* doc = "";      // one paragraph, with the formula
  const char* example = "";  // one line of C++; empty for what only the library builds
  std::vector<ArgDoc> inputs;
  std::vector<ArgDoc> outputs;
  const AttrSchema* attrs = nullptr;  // Attrs::schema_of<T>(), or null for none
  bool variadic_inputs = false;       // the last declared input may repeat
};

// Of the gradient of an op that chooses elements (see Choice): each element of one input goes to
// the place of the input that was chosen, and nothing else reaches the output.
struct Routing {
  int grad = -1;    // the input that is sent; -1: the op does no such thing
  int places = -1;  // the input that says where to: an output of the op that chose
};

struct GradientRule {
  // Gradients of the inputs, none for those without; null where the op has no gradient.
  std::vector<Value> (*vjp)(const VjpContext&) = nullptr;
  bool adds_gradients = false;  // the op that sums two gradients (one op of the library)
  // The attributes with which the op turns its input into a type (one op of the library): what
  // brings a gradient to the type of its value. Null: it is another op.
  Attrs (*to_type)(DType) = nullptr;
  Routing routing;
  bool stops_gradient = false;  // its outputs count as constants: what reads them need have no vjp
};

// What passes may make of a node of this op.
struct RewriteRule {
  // What the op becomes in a phase; an empty result keeps it. Null: the same in every phase.
  std::vector<Value> (*specialize)(const RewriteContext&, Phase) = nullptr;
  Activation is_activation = Activation::none;  // a matrix op may apply it while storing
  // The node's attributes with this activation fused, or nothing where the op cannot.
  Attrs (*fuse_activation)(const Attrs&, Activation) = nullptr;
};

// Kernels of an op for inputs of other types than its usual ones.
struct TypedKernels {
  // The types of the inputs, in order; the last stands for all that follow.
  std::vector<DType> inputs;
  KernelFn ref = nullptr;
  KernelFn fast = nullptr;                           // null: ref
  Params (*params)(const KernelContext&) = nullptr;  // null: the op's
  // Bytes of scratch memory of the fast kernel; null for none.
  int64_t (*workspace)(const Params&, int threads) = nullptr;
};

struct Kernels {
  // Parameters for the kernels; null where they take none.
  Params (*params)(const KernelContext&) = nullptr;
  // Bytes of scratch memory the fast kernel wants; null for none.
  int64_t (*workspace)(const Params&, int threads) = nullptr;
  // Floating-point operations of a run, where they are many for every number that it reads and
  // writes, as in products of matrices; null: about one.
  double (*flops)(const Params&) = nullptr;
  KernelFn ref = nullptr;    // float32: the oracle, and the kernel where fast is null
  KernelFn ref64 = nullptr;  // the same in double precision, for gradient checks
  KernelFn fast = nullptr;
  // For further types of the inputs (see InferContext::require_dtype); the shape rule says of what
  // types the outputs are then. Gradient checks run them as they are: they hold no f32.
  std::vector<TypedKernels> typed;
  // The kernels above take inputs of other types, f16 and bf16 among them, as they are.
  bool any_type = false;
  // Outputs that stay f32 where the others are f16 or bf16 (see infer_types): losses, statistics.
  std::vector<int> stay_f32;
};

// Output `out` and input `in` in one buffer.
struct Alias {
  int out;
  int in;
};

// How an op's first output is made again from its inputs and its other outputs: by less work than
// another run takes, to the same bits, and without what only the first run may read.
struct RebuildRule {
  const OpDef* op = nullptr;
  Attrs attrs;
  std::vector<int> inputs;  // i: input i of the node; ~i: output i
};

// Of an op that looks at one bit of every element of an input and no more: how these bits may be
// kept in the place of that input.
struct MaskRule {
  int input = -1;               // -1: it does not
  const OpDef* make = nullptr;  // from that input to the bits: boolean of its shape
  Attrs make_attrs;
  const OpDef* read = nullptr;  // the op with the bits in the place of that input
  Attrs read_attrs;
};

// Of an op some rows of whose output (axis 0) can be computed alone, to the same bits.
struct PartRule {
  // So many at a time, or a multiple, from a multiple on; 0: not of this call.
  int64_t (*rows)(const Params&) = nullptr;  // null: the op is none
  // Changes the parameters of the whole call, given by their bytes, to those of one that writes
  // rows `first` to `first + count` to the output's beginning, with the same inputs.
  void (*part)(void* params, int64_t first, int64_t count) = nullptr;
};

// Of an op that keeps f32 values in a narrower type for later.
struct NarrowStorage {
  // The op's attributes for storing as this type; nothing where it does not offer the type. Null:
  // the op is none.
  Attrs (*as)(DType) = nullptr;
  const OpDef* load = nullptr;  // from that type to f32 again
};

// Which buffers the op may share, and how it can be run with less memory.
struct MemoryTraits {
  std::vector<Alias> in_place;  // may share a buffer: the kernel allows it
  std::vector<Alias> views;     // the same bytes: always shares, the kernel does nothing then
  std::vector<Alias> updates;   // must share a buffer: the op changes that input's storage
  RebuildRule (*rebuild)(const Attrs&) = nullptr;  // null: by running it again
  MaskRule (*mask)(const Attrs&) = nullptr;        // null: it reads whole inputs
  NarrowStorage narrow;
  PartRule part;  // where its output can be computed in parts
};

// How the outputs of an op depend on the samples that the first dimension of some inputs counts.
enum class Samples : uint8_t {
  apart,          // of a sample the outputs hold what depends on that sample alone
  mean,           // they are the mean over the samples of what each would give alone
  labelled_mean,  // the same over those samples whose indices (DataFlow::indices) are not ignored
  statistics,     // apart, but for statistics of all samples, such as a batch norm's
  mixed,          // anything else
};

struct SamplesContext : KernelContext {
  std::span<const bool> counted;  // which inputs hold samples, one after another
};

// Of an op whose output is zero but for some rows of its first dimension: the inputs that hold them
// and their numbers, each of which stands there once, before numbers of -1 for rows of no meaning.
struct GivenRows {
  int sums = -1;  // -1: the op is none
  int rows = -1;
};

// Of an op that chooses elements of an input, such as the largest of each window: which outputs
// hold them and their places.
struct Choice {
  int input = -1;
  int values = -1;  // an output; -1: the op does no such thing
  int places = -1;  // an output, of no meaning but to the gradient (see Routing)
};

// An input that holds numbers of rows, places or classes, 0 to below size. With any other number
// the result is not finite, but for one that stands for nothing.
struct IndexInput {
  int input = -1;  // -1: there is none
  int64_t size = 0;
  std::optional<int64_t> ignored;
};

// Which elements of the outputs depend on which elements of the inputs.
struct DataFlow {
  bool elementwise = false;  // every output element depends on the same element of the inputs
  bool reads_rng = false;    // its first input is the graph's random state
  Samples (*samples)(const SamplesContext&) = nullptr;  // null: apart, or mixed if it updates
  Choice choice;
  GivenRows given_rows;  // where the output is zero but for some rows
  // The input whose rows (axis 0, of rank 2) make up the output's rows (last axis), chosen by the
  // other inputs, or -1; null: never so.
  int (*gathers)(const Attrs&) = nullptr;
  // Whether every row (last axis) of the one output depends on the same row of input 0, whatever
  // dimensions stand before, and on the whole of the other inputs; null: never so. Outputs are not
  // given.
  bool (*row_wise)(const KernelContext&) = nullptr;
  // The input that names what the op looks up, so that a message can say which number is none;
  // null: there is none. Outputs are not given.
  IndexInput (*indices)(const KernelContext&) = nullptr;
};

// A tensor that an optimizer keeps for a parameter, "<parameter>.<name>".
struct StateSpec {
  const char* name;
  TensorType type;
  double first = 0.0;  // what every element is before the first step; of f32 alone
};

// Of an op that is an optimizer's rule. Its inputs are {param, grad, lr, step, states...}, its
// attributes the optimizer's settings, with a number "lr" among them.
struct OptimizerRule {
  const char* name = nullptr;  // as users say it: "adamw"; null: the op is none
  // Throws Error naming the setting that is out of its range.
  void (*check)(const Attrs& settings) = nullptr;
  std::vector<StateSpec> (*states)(const Attrs& settings, const Shape& param) = nullptr;
  // The op that applies the rule to some rows of a parameter and of its states, and reads and
  // writes no other; null: there is none. Its inputs are {param, sums, rows, lr, step, states...}
  // (see GivenRows), its attributes the same settings.
  const OpDef* by_rows = nullptr;
  // Whether every element depends on the same element of the gradient and of states of the
  // parameter's type alone, and the kernels' parameters hold no size but their first field, the
  // number of elements (int).
  bool elementwise = false;
  // The setting that may differ from step to step ("momentum", "beta1"); null: there is none. Where
  // there is one, the op's last input is this number, or nothing.
  const char* momentum = nullptr;
  // The setting that says how many bits an element of a state takes, 32 where it is kept as f32;
  // null: it always is.
  const char* state_bits = nullptr;
  // What in these settings reaches rows without a gradient, so that by_rows would not be the same
  // method any more: "momentum"; empty: nothing.
  const char* (*reaches_all_rows)(const Attrs& settings) = nullptr;
};

}  // namespace thimble::ir
