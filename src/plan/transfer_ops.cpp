#include "plan/transfer_ops.h"

namespace thimble::plan {
namespace {

struct Transfer {
  int64_t slot;
  int64_t deadline;
  int64_t bytes;
};

const Transfer& transfer_of(const ir::KernelCall& call) {
  return *static_cast<const Transfer*>(call.params);
}

ir::Params params(const ir::KernelContext& c) {
  const auto& attrs = c.attrs.as<SwapAttrs>();
  const int64_t bytes =
      c.has(0) ? size_bytes(c.inputs[0]->dtype, c.in(0)) : size_bytes(attrs.dtype, attrs.shape);
  return Transfer{attrs.slot, attrs.deadline, bytes};
}

std::vector<ir::TensorType> nothing(const ir::InferContext&) { return {}; }

std::vector<ir::TensorType> wanted_type(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<SwapAttrs>();
  return {{attrs.dtype, attrs.shape}};
}

void wait(const ir::KernelCall& call) {
  // The session checks for a failure after the op.
  static_cast<void>(call.swap->wait(static_cast<int>(transfer_of(call).slot)));
}

// An op with an output makes it by the type of the attributes.
ir::OpDef definition(const char* name, const char* doc, std::vector<ir::ArgDoc> inputs,
                     std::vector<ir::ArgDoc> outputs, ir::KernelFn kernel) {
  const auto infer = outputs.empty() ? nothing : wanted_type;
  return {
      .name = name,
      .signature{
          .doc = doc,
          .inputs = std::move(inputs),
          .outputs = std::move(outputs),
          .attrs = ir::Attrs::schema_of<SwapAttrs>(),
      },
      .infer = infer,
      .kernels{.params = params, .ref = kernel, .any_type = true},
  };
}

}  // namespace

void describe(SwapAttrs& attrs, ir::FieldVisitor& visitor) {
  visitor.field("slot", attrs.slot, "the place in the swap file");
  visitor.field("deadline", attrs.deadline, "of transfers that wait, the least comes first");
  visitor.field("dtype", attrs.dtype, "the output's element type");
  visitor.field("shape", attrs.shape, "the output's shape");
}

const ir::OpDef& swap_write_op() {
  static const ir::OpDef def = definition(
      "swap_write", "Begins to write x to the swap file.", {{"x", "any type and shape"}}, {},
      [](const ir::KernelCall& call) {
        const Transfer& t = transfer_of(call);
        call.swap->start_write(static_cast<int>(t.slot), call.inputs[0], t.bytes, t.deadline);
      });
  return def;
}

const ir::OpDef& swap_written_op() {
  static const ir::OpDef def = definition("swap_written", "Waits until x is in the swap file.",
                                          {{"x", "what is written"}}, {}, wait);
  return def;
}

const ir::OpDef& swap_read_op() {
  static const ir::OpDef def = definition(
      "swap_read", "Begins to read a value from the swap file.", {},
      {{"raw", "of the attributes' type"}}, [](const ir::KernelCall& call) {
        const Transfer& t = transfer_of(call);
        call.swap->start_read(static_cast<int>(t.slot), call.outputs[0], t.bytes, t.deadline);
      });
  return def;
}

const ir::OpDef& swap_ready_op() {
  static const ir::OpDef def = [] {
    ir::OpDef op =
        definition("swap_ready", "Waits until a value has been read.", {{"raw", "what is read"}},
                   {{"y", "raw, of the attributes' type"}}, wait);
    op.memory.views = {{0, 0}};
    return op;
  }();
  return def;
}

}  // namespace thimble::plan
