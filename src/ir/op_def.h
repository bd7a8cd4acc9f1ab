// What an op says of itself. Everything else in the library asks here and names no op.
#pragma once

#include <thimble/error.h>
#include <thimble/graph.h>
#include <thimble/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "ir/attrs.h"
#include "ir/kernel.h"

namespace thimble::ir {

struct OpDef;

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  bool operator==(const TensorType&) const = default;
};

// "f32[2, 3]"
[[nodiscard]] std::string to_string(const TensorType& type);

// One input or output, for documentation and checks.
struct ArgDoc {
  const char* name;
  const char* doc;        // shape and meaning: "[N, H, W, C]"
  bool optional = false;  // may be left out
};

// Given to shape rules. An absent optional input has a null pointer.
struct InferContext {
  const OpDef& op;
  const Attrs& attrs;
  std::span<const TensorType* const> inputs;

  [[nodiscard]] bool has(int i) const {
    return static_cast<size_t>(i) < inputs.size() && inputs[static_cast<size_t>(i)] != nullptr;
  }
  [[nodiscard]] const TensorType& input(int i) const { return *inputs[static_cast<size_t>(i)]; }
  [[nodiscard]] const Shape& shape(int i) const { return input(i).shape; }
  // Throws Error "[op] message; got f32[2, 3], f32[4]".
  [[noreturn]] void fail(const std::string& message) const;
  // fail(message) unless the condition holds.
  void require(bool condition, const std::string& message) const {
    if (!condition) fail(message);
  }
  // Input i has this element type.
  void require_dtype(int i, DType dtype) const;
  // Input i has this number of dimensions.
  void require_rank(int i, int rank) const;
};

// Given to gradient rules, which build their nodes with the ordinary builder functions.
struct VjpContext {
  const Attrs& attrs;
  std::span<const Value> inputs;
  std::span<const Value> outputs;
  std::span<const Value> grads;  // of the outputs; none where no gradient arrives
  std::span<const bool> needs;   // which inputs want a gradient

  [[nodiscard]] Value input(int i) const {
    return static_cast<size_t>(i) < inputs.size() ? inputs[static_cast<size_t>(i)] : Value();
  }
  [[nodiscard]] Value output(int i = 0) const { return outputs[static_cast<size_t>(i)]; }
  [[nodiscard]] Value grad(int i = 0) const { return grads[static_cast<size_t>(i)]; }
  [[nodiscard]] bool need(int i) const {
    return static_cast<size_t>(i) < needs.size() && needs[static_cast<size_t>(i)];
  }
};

enum class Phase : uint8_t { training, inference };

// Given to rules that turn a node into others: the inputs are already in the new graph.
struct RewriteContext {
  Graph& graph;
  const Attrs& attrs;
  std::span<const Value> inputs;
  [[nodiscard]] Value input(int i) const {
    return static_cast<size_t>(i) < inputs.size() ? inputs[static_cast<size_t>(i)] : Value();
  }
};

// A kernel's parameters: a POD struct by its bytes.
class Params {
 public:
  Params() = default;
  template <class T>
  requires std::is_trivially_copyable_v<T> Params(const T& value)
      : bytes_(sizeof(T)) {  // NOLINT: implicit by design
    std::memcpy(bytes_.data(), &value, sizeof(T));
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
  template <class T>
  [[nodiscard]] T as() const {
    T value;
    std::memcpy(&value, bytes_.data(), sizeof(T));
    return value;
  }

 private:
  std::vector<std::byte> bytes_;
};

// Types of a node whose shapes are known, for choosing parameters and workspace.
struct KernelContext {
  const Attrs& attrs;
  std::span<const TensorType* const> inputs;
  std::span<const TensorType> outputs;
  [[nodiscard]] bool has(int i) const {
    return static_cast<size_t>(i) < inputs.size() && inputs[static_cast<size_t>(i)] != nullptr;
  }
  [[nodiscard]] const Shape& in(int i) const { return inputs[static_cast<size_t>(i)]->shape; }
  [[nodiscard]] const Shape& out(int i = 0) const { return outputs[static_cast<size_t>(i)].shape; }
};

// Output `out` and input `in` in one buffer.
struct Alias {
  int out;
  int in;
};

// A tensor that an optimizer keeps for a parameter, "<parameter>.<name>".
struct StateSpec {
  const char* name;
  TensorType type;
  double first = 0.0;  // what every element is before the first step; of f32 alone
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

// How the outputs of an op depend on the samples that the first dimension of some inputs counts.
enum class Samples : uint8_t {
  apart,          // of a sample the outputs hold what depends on that sample alone
  mean,           // they are the mean over the samples of what each would give alone
  labelled_mean,  // the same over those samples whose indices (OpDef::indices) are not ignored
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
  // What in these settings reaches rows without a gradient, so that by_rows would not be the same
  // method any more: "momentum"; empty: nothing.
  const char* (*reaches_all_rows)(const Attrs& settings) = nullptr;
};

// An input that holds numbers of rows, places or classes, 0 to below size. With any other number
// the result is not finite, but for one that stands for nothing.
struct IndexInput {
  int input = -1;  // -1: there is none
  int64_t size = 0;
  std::optional<int64_t> ignored;
};

// The definition of an op. Filled with designated initializers in src/ops/<op>/op.cpp.
struct OpDef {
  const char* name = "";
  const char* doc = "";      // one paragraph, with the formula
  const char* example = "";  // one line of C++; empty for what only the library builds
  std::vector<ArgDoc> inputs;
  std::vector<ArgDoc> outputs;
  const AttrSchema* attrs = nullptr;  // Attrs::schema_of<T>(), or null for none
  bool variadic_inputs = false;       // the last declared input may repeat

  // Types of the outputs; throws Error on bad inputs.
  std::vector<TensorType> (*infer)(const InferContext&) = nullptr;
  // Gradients of the inputs, none for those without; null where the op has no gradient.
  std::vector<Value> (*vjp)(const VjpContext&) = nullptr;
  // What the op becomes in a phase; an empty result keeps it. Null: the same in every phase.
  std::vector<Value> (*specialize)(const RewriteContext&, Phase) = nullptr;

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

  // Traits.
  bool elementwise = false;     // every output element depends on the same element of the inputs
  bool reads_rng = false;       // its first input is the graph's random state
  std::vector<Alias> in_place;  // may share a buffer: the kernel allows it
  std::vector<Alias> views;     // the same bytes: always shares, the kernel does nothing then
  std::vector<Alias> updates;   // must share a buffer: the op changes that input's storage
  OptimizerRule optimizer;      // how it changes a parameter, where it is an optimizer's rule
  RebuildRule (*rebuild)(const Attrs&) = nullptr;       // null: by running it again
  MaskRule (*mask)(const Attrs&) = nullptr;             // null: it reads whole inputs
  PartRule part;                                        // where its output can be computed in parts
  Samples (*samples)(const SamplesContext&) = nullptr;  // null: apart, or mixed if it updates
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
  bool adds_gradients = false;  // the op that sums two gradients (one op of the library)
  bool stops_gradient = false;  // its outputs count as constants: what reads them need have no vjp
  Activation is_activation = Activation::none;  // a matrix op may apply it while storing
  // The node's attributes with this activation fused, or nothing where the op cannot.
  Attrs (*fuse_activation)(const Attrs&, Activation) = nullptr;
};

// Every op, sorted by name. Built on first use, valid for ever. Thread-safe.
[[nodiscard]] std::span<const OpDef* const> all_ops();

// The op of that name, or null.
[[nodiscard]] const OpDef* find_op(std::string_view name);

}  // namespace thimble::ir

// Opens the definition of the ops of a folder: THIMBLE_OP_FOLDER(relu) { return ...; }. What stands
// in thimble::ops::relu_impl is found there by its plain name.
#define THIMBLE_OP_FOLDER(folder)                  \
  namespace thimble::ops::folder##_impl {          \
    std::span<const ir::OpDef* const> op_folder(); \
  }                                                \
  std::span<const thimble::ir::OpDef* const> thimble::ops::folder##_impl::op_folder()

namespace thimble::ops {
using ir::OpDef;
}  // namespace thimble::ops
