// The parts of an op's definition (OpDef). Each answers one kind of question.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/device_work.h"
#include "ir/kernel.h"
#include "ir/op_context.h"

namespace thimble::ir {

// Where an op of one tensor is defined, finite and smooth: tests draw their numbers there.
struct Domain {
  double low = 0.0;
  double high = 0.0;  // not above low: the op does not say
  double gap = 0.0;   // numbers stay this far from 0, where the op may have a kink
};

// A comparison that tests make for an op of one tensor.
struct TestCase {
  const char* name = "";     // of the cases, after their shapes: "steep"; empty: of the defaults
  const char* attrs = "{}";  // JSON: R"({"slope": 0.3})"
  Domain domain;             // none: the gradient is only compared with PyTorch's
  const char* torch = "";  // the same in Python, of torch and x: "nn.functional.relu(x)"; or empty
  const char* refused = "";  // not empty: the attributes are invalid, and the error says this
};

// The signature that users and importers see.
struct Signature {
  const char* doc = "";      // one paragraph, with the formula
  const char* example = "";  // one line of C++; empty for ops that only the library builds
  std::vector<ArgDoc> inputs;
  std::vector<ArgDoc> outputs;
  const AttrSchema* attrs = nullptr;  // Attrs::schema_of<T>(), or null for none
  bool variadic_inputs = false;       // the last declared input may repeat
  // PyTorch's function of the same values, below torch: "nn.functional.relu"; empty: not said. It
  // gives the numbers that tests compare with.
  const char* torch = "";
  Domain domain;
  std::span<const TestCase> cases;  // instead of torch and domain, where one case is not enough
};

// For the gradient of an op that chooses elements (see Choice): sends each element of one input to
// the place of the chosen element. Nothing else reaches the output.
struct Routing {
  int grad = -1;    // the input that is sent; -1: the op is not of this kind
  int places = -1;  // the input that holds the places: an output of the op that chose
};

// The ops that read a gradient that another op stored in 8 bits.
struct StoredError {
  const OpDef* load;  // makes it f32 again
  const OpDef* add;   // adds it to its first input
};

struct GradientRule {
  // Returns the gradients of the inputs, none for inputs without one. Null: the op has no gradient.
  std::vector<Value> (*vjp)(const VjpContext&) = nullptr;
  bool adds_gradients = false;  // the op that sums two gradients (exactly one op)
  // The attributes with which this op casts its input to a type (one op of the library), used to
  // give a gradient the type of its value. Null: the op is not of this kind.
  Attrs (*to_type)(DType) = nullptr;
  Routing routing;
  bool stops_gradient = false;  // outputs count as constants, so ops that read them need no vjp
  // The attributes with which this op takes slices of its first input along an axis, those of the
  // indices in its second input (one op of the library). Null: the op is not of this kind.
  Attrs (*to_slices)(int axis) = nullptr;
  // Of the op that stores a gradient in 8 bits (one op of the library): the ops that read what is
  // stored, all outputs of this one. Null: the op is not of this kind.
  const StoredError* stored_error = nullptr;
};

// How passes may rewrite a node of this op.
struct RewriteRule {
  // Replaces the op in a phase; an empty result keeps it. Null: the op is the same in every phase.
  std::vector<Value> (*specialize)(const RewriteContext&, Phase) = nullptr;
  // The activation that this op is; a matrix op may apply it while storing.
  Activation is_activation = Activation::none;
  // The attributes with this activation fused; empty if the op cannot fuse it.
  Attrs (*fuse_activation)(const Attrs&, Activation) = nullptr;
};

// Kernels of an op for further types of inputs.
struct TypedKernels {
  // The types of the inputs, in order; the last one holds for all inputs after it.
  std::vector<DType> inputs;
  KernelFn ref = nullptr;
  KernelFn fast = nullptr;                           // null: ref
  Params (*params)(const KernelContext&) = nullptr;  // null: the op's
  // Bytes of scratch memory of the fast kernel; null for none.
  int64_t (*workspace)(const Params&, int threads) = nullptr;
};

// For an op whose outputs can be computed from some rows (axis 0) of its inputs at a time, with the
// kernels for fewer rows.
struct RowBlocks {
  std::vector<int> inputs;   // those that are divided by rows; none: the op is not of this kind
  std::vector<int> outputs;  // that are divided likewise; the others are sums over the blocks
};

// For a fast kernel that brings weights into another form first. Programs that run many times
// between two changes of the weights keep that form.
struct PreparedWeights {
  std::vector<int> inputs;  // that the form is made of
  // Bytes of the form on this machine; 0: this call has none.
  int64_t (*bytes)(const Params&) = nullptr;
  // Its output is the form; its inputs are those of the op, of which it reads `inputs` alone.
  KernelFn prepare = nullptr;
  // The op's fast kernel, with the form in the place of the first of `inputs`, and its workspace.
  KernelFn kernel = nullptr;
  int64_t (*workspace)(const Params&, int threads) = nullptr;
};

struct Kernels {
  // Parameters of the kernels; null: they take none.
  Params (*params)(const KernelContext&) = nullptr;
  // Bytes of workspace of the fast kernel; null: none.
  int64_t (*workspace)(const Params&, int threads) = nullptr;
  // Floating-point operations of a run, for ops that do many per element, such as matrix products;
  // null: about one per element.
  double (*flops)(const Params&) = nullptr;
  // Those in whose time `fast` runs, if its algorithm saves some; null: as many.
  double (*fast_flops)(const Params&) = nullptr;
  // What the kernel in C does on a microcontroller; null: not said.
  DeviceWork (*device_work)(const Params&) = nullptr;
  KernelFn ref = nullptr;    // f32; also runs if there is no fast kernel
  KernelFn ref64 = nullptr;  // the same in double precision, for gradient checks
  KernelFn fast = nullptr;
  const PreparedWeights* prepared = nullptr;  // null: `fast` reads weights as they are
  // For further types of inputs than the usual ones; the shape rule then gives the types of the
  // outputs. Gradient checks run these kernels unchanged, because they have no f32
  // tensors.
  std::vector<TypedKernels> typed;
  // The kernels above accept inputs of other types, including f16 and bf16, directly.
  bool any_type = false;
  // Outputs that are f32 even if the others are f16 or bf16 (see infer_types): losses, statistics.
  std::vector<int> stay_f32;
  // How f16 and bf16 tensors are widened a few rows at a time (ir/widened.h); null: as the data
  // flow says (elementwise, row_wise), else they are widened whole.
  RowBlocks (*row_blocks)(const KernelContext&) = nullptr;
  // A fast kernel that reads and writes f16 and bf16 itself and gives what `fast` gives, rounded
  // once; null: `fast` runs on widened copies. It is used where all of inputs_16bit have that type;
  // others may. Its parameters are a WidenedHeader and behind it those of `fast` (ir/widened.h).
  KernelFn fast_16bit = nullptr;
  std::vector<int> inputs_16bit;
  int64_t (*workspace_16bit)(const Params&, int threads) = nullptr;  // of the params of `fast`
};

// Output `out` and input `in` share one buffer.
struct Alias {
  int out;
  int in;
};

// Recomputes an op's first output from its inputs and other outputs: with less work than running
// the op a second time, with the same bits, and without reading what only the first run may read.
struct RebuildRule {
  const OpDef* op = nullptr;
  Attrs attrs;
  std::vector<int> inputs;  // i: input i of the node; ~i: output i
};

// For an op that needs only one bit per element of an input: how to keep a bit mask instead of that
// input.
struct MaskRule {
  int input = -1;               // -1: the op is not of this kind
  const OpDef* make = nullptr;  // computes the bit mask of that input: booleans of its shape
  Attrs make_attrs;
  const OpDef* read = nullptr;  // the same op, reading the bit mask instead of that input
  Attrs read_attrs;
};

// For an op that can compute some rows (axis 0) of its output alone, with the same bits.
struct PartRule {
  // Rows are computed in multiples of this number; 0: this call cannot be divided.
  int64_t (*rows)(const Params&) = nullptr;  // null: the op is not of this kind
  // Changes the parameters (bytes) of the whole call to those of a call that writes rows `first` to
  // `first + count` to the start of the output, with the same inputs.
  void (*part)(void* params, int64_t first, int64_t count) = nullptr;
};

// For an op that converts f32 values to a narrower type for storage.
struct NarrowStorage {
  // The op's attributes for this type; empty if it does not offer the type. Null: the op is not of
  // this kind.
  Attrs (*as)(DType) = nullptr;
  const OpDef* load = nullptr;  // converts that type back to f32
};

// Buffers that the op may share, and ways to run it with less memory.
struct MemoryTraits {
  std::vector<Alias> in_place;  // may share a buffer: the kernel can work in place
  std::vector<Alias> views;     // always share: same bytes, the kernel does nothing
  std::vector<Alias> updates;   // must share: the op changes that input's storage
  RebuildRule (*rebuild)(const Attrs&) = nullptr;  // null: recomputation runs the op itself
  MaskRule (*mask)(const Attrs&) = nullptr;        // null: the op reads whole inputs
  NarrowStorage narrow;
  PartRule part;  // computing the output by rows
};

// How the outputs of an op depend on samples, counted by the first dimension of some inputs.
enum class Samples : uint8_t {
  independent,    // one row per sample, which depends on that sample only
  mean,           // a mean over samples of terms that depend on one sample each
  labelled_mean,  // the same over the samples whose indices (DataFlow::indices) are not ignored
  statistics,  // independent, except for statistics over all samples, such as those of a batch norm
  mixed,       // anything else
};

struct SamplesContext : KernelContext {
  std::span<const bool> counted;  // which inputs hold one row per sample
};

// For an op whose output is zero except for some rows (axis 0): the inputs that hold these rows and
// their numbers. Each row number stands once; -1 marks rows without meaning at the end.
struct GivenRows {
  int sums = -1;  // -1: the op is not of this kind
  int rows = -1;
};

// For an op that chooses elements of an input, such as the maximum of each window: the outputs that
// hold the chosen values and their places.
struct Choice {
  int input = -1;
  int values = -1;  // an output; -1: the op is not of this kind
  int places = -1;  // an output that only the gradient reads (see Routing)
};

// An input of indices (rows, places or classes), 0 to size - 1. Any other index makes the result
// non-finite, except one that is ignored.
struct IndexInput {
  int input = -1;  // -1: there is none
  int64_t size = 0;
  std::optional<int64_t> ignored;
};

// Dependence of output elements on input elements.
struct DataFlow {
  bool elementwise = false;  // every output element depends on the same element of the inputs
  bool reads_rng = false;    // its first input is the graph's random state
  Samples (*samples)(const SamplesContext&) = nullptr;  // null: independent, or mixed if it updates
  Choice choice;
  GivenRows given_rows;  // for outputs that are zero except for some rows
  // The output over many batches is what the op makes of the mean over all their samples of its one
  // input, which is a mean over samples (Samples::mean); not the mean of the batches' outputs.
  bool of_means = false;
  // The input of rank 2 whose rows (axis 0) the output's rows (last axis) are copies of, chosen by
  // the other inputs; -1 or null: none.
  int (*gathers)(const Attrs&) = nullptr;
  // Whether every row (last axis) of the one output depends only on the same row of input 0, for
  // any leading dimensions, and on the other inputs as a whole; null: never. Outputs are not given.
  bool (*row_wise)(const KernelContext&) = nullptr;
  // The input of indices that the op looks up, so that an error can name an invalid one; null:
  // none. Outputs are not given.
  IndexInput (*indices)(const KernelContext&) = nullptr;
};

// The parameters of the layer that an op is.
struct LayerParameters {
  int weight = -1;  // number of the input; -1: none
  int bias = -1;    // of an input that may be left out, added to the results; -1: none
  // The axis of the weight that counts input channels. The gradient rule then gives the gradient of
  // the trained ones alone, where the weight is trained in part (TrainedPart). -1: there is none.
  int input_channels = -1;
};

// The part of a parameter that is trained: some indices along an axis.
struct TrainedPart {
  int axis = 0;
  std::vector<int64_t> indices;  // rising; none: all of the parameter is trained
  friend bool operator==(const TrainedPart&, const TrainedPart&) = default;
};

// A tensor that an optimizer keeps for a parameter, "<parameter>.<name>".
struct StateSpec {
  const char* name;
  TensorType type;
  double first = 0.0;  // initial value of every element; for f32 only
};

// For an op that is an optimizer's rule. Its inputs are {param, grad, lr, step, states...}, its
// attributes the optimizer's settings, among them a number "lr".
struct OptimizerRule {
  const char* name = nullptr;  // as users say it: "adamw"; null: the op is none
  const char* type = nullptr;  // of its settings: "AdamW"; null: the name with a capital
  // Throws Error naming the setting that is out of range.
  void (*check)(const Attrs& settings) = nullptr;
  std::vector<StateSpec> (*states)(const Attrs& settings, const Shape& param) = nullptr;
  // The op that applies the rule to some rows of a parameter and its states and touches no others;
  // null: none. Its inputs are {param, sums, rows, lr, step, states...} (see GivenRows), its
  // attributes the same settings.
  const OpDef* by_rows = nullptr;
  // The op that applies the rule to a part of a parameter, with a gradient and states of the part's
  // shape, and its attributes; null: none. Its other inputs are the same.
  const OpDef* by_part = nullptr;
  Attrs (*part_attrs)(const Attrs& settings, const TrainedPart& part) = nullptr;
  // Whether every element depends only on the same element of the gradient and of states of the
  // parameter's type. The kernels' parameters must then hold no size but their first field, the
  // number of elements (int).
  bool elementwise = false;
  // The setting that a schedule may change from step to step ("momentum", "beta1"); null: none. The
  // op's last input is then this number, or nothing.
  const char* momentum = nullptr;
  // The setting for the bits per element of a state, 32 for f32; null: states are always f32.
  const char* state_bits = nullptr;
  // The setting that changes rows without a gradient, which makes by_rows another method:
  // "momentum"; empty: none.
  const char* (*reaches_all_rows)(const Attrs& settings) = nullptr;
};

// How parameters of whole numbers, the int8 weights and int32 biases of quantized networks, are
// trained.
struct IntegerRule {
  // For an op with a bias without a scale (its last input): the real number that 1 stands for, for
  // each of its elements. Null: it has none.
  std::vector<double> (*bias_units)(const KernelContext&) = nullptr;
  // For an optimizer's rule: the op that applies it to i8 or i32 and rounds changes at random, with
  // the inputs {rng, param, grad, lr, step, states...}, and its attributes. Null: the rule has
  // none. Of a parameter that is trained in part, gradient and states have the part's shape.
  const OpDef* update = nullptr;
  Attrs (*update_attrs)(const Attrs& settings, int64_t stream, const TrainedPart& part) = nullptr;
};

}  // namespace thimble::ir
