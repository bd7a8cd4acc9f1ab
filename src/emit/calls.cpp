#include "emit/calls.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>

#include "emit/c_text.h"
#include "plan/transfer_ops.h"

namespace thimble::emit {

Parameter parameter_of(const std::string& declaration) {
  Parameter made;
  std::string words;
  std::string last;
  for_each_identifier(declaration, [&](const CIdentifier& name) {
    if (!last.empty() && last != "const") words += (words.empty() ? "" : " ") + last;
    last = name.name;
  });
  made.type = words;
  made.pointers = static_cast<int>(std::count(declaration.begin(), declaration.end(), '*'));
  made.is_const = trimmed(declaration).starts_with("const ");
  return made;
}

namespace {

// "conv2d(f32[8, 28, 28, 1], none) -> f32[8, 14, 14, 8]"
std::string call_text(const program::Program& program, const program::Call& call) {
  const auto types = [&](const std::vector<int>& ids) {
    std::string text;
    for (const int id : ids) {
      text +=
          (text.empty() ? "" : ", ") + (id < 0 ? "none" : ir::to_string(program.tensor(id).type));
    }
    return text;
  };
  return fmt::format("{}({}) -> {}", call.op->name, types(call.inputs), types(call.outputs));
}

// Text that may stand in a comment.
std::string in_comment(std::string text) {
  for (size_t at = text.find("*/"); at != std::string::npos; at = text.find("*/", at)) {
    text.replace(at, 2, "* ");
  }
  return text;
}

}  // namespace

void refuse(const program::Program& program, const program::Call& call, const std::string& why) {
  const std::string name = call.outputs.empty() ? "" : *program.tensor(call.outputs.front()).name;
  throw Error("export-c",
              fmt::format("cannot write {} of \"{}\" as C: {}", call.op->name, name, why));
}

void check_has_source(const program::Program& program, const program::Call& call) {
  if (plan::is_transfer(*call.op)) {
    refuse(program, call,
           "a device has no swap file; plan without it (--swap never), with a larger budget or a "
           "smaller batch");
  }
  if (call.tiled) {
    refuse(program, call, "tiled updates are not written yet; give a larger memory budget or none");
  }
  if (call.kernel.name(call.params.bytes().data()) == nullptr) {
    refuse(program, call,
           "its kernel has no C source. Activations of 16 bits, sparse gradients and updates of "
           "a part of f32 weights have none: train with f32, dense gradients and whole weights");
  }
}

bool is_view(const program::Program& program, const program::Call& call) {
  const std::vector<ir::Alias>& views = call.op->memory.views;
  if (views.empty() || call.outputs.size() != 1) return false;
  const int in = call.inputs[static_cast<size_t>(views.front().in)];
  return in >= 0 && Storage::same_place(program.tensor(in), program.tensor(call.outputs[0]));
}

CallWriter::Parameters CallWriter::parameters(const program::Call& call, const KernelName& kernel,
                                              const std::string& type) {
  const std::span<const std::byte> bytes = call.params.bytes();
  const auto size = static_cast<size_t>(structs_.bytes(type));
  const std::string own = structs_.initializer(type, bytes);
  const std::string tail = library_.tail_of(kernel);
  if (tail.empty()) {
    return {fmt::format("    static const {} d = {};\n", type, own), "&d"};
  }
  const auto each = static_cast<size_t>(structs_.bytes(tail));
  const size_t count = (bytes.size() - size) / each;
  std::string factors = count == 0 ? "0" : "";
  for (size_t i = 0; i < count; ++i) {
    factors += fmt::format("{}\n    {}", i == 0 ? "" : ",",
                           structs_.element(tail, bytes.subspan(size + i * each, each)));
  }
  // Equal ones are written once.
  const std::string rest = fmt::format("{{{}, {{{}}}}};\n", own, factors);
  const std::string start = fmt::format("static const struct {{\n  {} dims;\n  {} tail[{}];\n}} ",
                                        type, tail, std::max<size_t>(1, count));
  const auto [table, is_new] =
      tables_.try_emplace(start + rest, fmt::format("parameters_{}", tables_.size() + 1));
  if (is_new) tables_text_ += start + table->second + " = " + rest;
  return {"", fmt::format("(const {}*)(const void*)&{}", type, table->second)};
}

std::string CallWriter::arguments(const program::Program& program, const program::Call& call,
                                  const KernelName& kernel, const CLibrary::Function& function,
                                  std::string& definitions) {
  std::string text;
  size_t next_input = 0;
  size_t next_output = 0;
  const auto pointer = [&](const std::vector<int>& ids, size_t i, const std::string& type,
                           bool is_const) -> std::string {
    if (i >= ids.size() || ids[i] < 0) return "NULL";
    // void*, or another name of a number's type: as the tensor's own type.
    const program::Tensor& tensor = program.tensor(ids[i]);
    const bool is_number = scalar_bytes(type) > 0;
    return storage_.address(program, tensor, is_number ? type : c_type(tensor.type.dtype),
                            is_const);
  };
  for (const std::string& declaration : function.parameters) {
    const Parameter parameter = parameter_of(declaration);
    if (!structs_.is_known(parameter.type)) {
      refuse(program, call, "its kernel takes " + parameter.type + ", which has no C source");
    }
    text += text.empty() ? "" : ", ";
    if (parameter.pointers == 0) {
      text += fmt::format("{}", call.inputs.size());
    } else if (parameter.pointers == 2) {
      const std::vector<int>& ids = parameter.is_const ? call.inputs : call.outputs;
      const size_t count =
          std::max(ids.size(), parameter.is_const ? call.op->signature.inputs.size() : ids.size());
      std::string all;
      for (size_t i = 0; i < count; ++i) {
        all += (all.empty() ? "" : ", ") + pointer(ids, i, parameter.type, parameter.is_const);
      }
      const char* const name = parameter.is_const ? "in" : "out";
      definitions += fmt::format("    {}{}* const {}[] = {{{}}};\n",
                                 parameter.is_const ? "const " : "", parameter.type, name, all);
      text += name;
    } else if (parameter.type == "void" && !parameter.is_const) {
      text += call.workspace < 0 ? "NULL" : fmt::format("arena + {}", call.workspace);
    } else if (structs_.is_struct(parameter.type)) {
      const Parameters made = parameters(call, kernel, parameter.type);
      definitions += made.definition;
      text += made.address;
    } else if (parameter.is_const) {
      text += pointer(call.inputs, next_input++, parameter.type, true);
    } else {
      text += pointer(call.outputs, next_output++, parameter.type, false);
    }
  }
  const bool takes_all = std::any_of(function.parameters.begin(), function.parameters.end(),
                                     [](const std::string& declaration) {
                                       const Parameter parameter = parameter_of(declaration);
                                       return parameter.pointers == 2 && parameter.is_const;
                                     });
  for (size_t i = next_input; !takes_all && i < call.inputs.size(); ++i) {
    if (call.inputs[i] < 0) continue;
    refuse(program, call,
           fmt::format("its C source does not take the input \"{}\"; where that is a scheduled "
                       "momentum, take a schedule that leaves the momentum alone",
                       *program.tensor(call.inputs[i]).name));
  }
  return text;
}

std::string CallWriter::statements(const program::Program& program, const program::Call& call) {
  const std::string name = call.outputs.empty() ? "" : *program.tensor(call.outputs.front()).name;
  const std::string comment = in_comment(fmt::format("{}: {}", name, call_text(program, call)));
  if (is_view(program, call)) return fmt::format("  /* {}: the same memory */\n", comment);
  check_has_source(program, call);
  const KernelName kernel = kernel_name_of(call.kernel.name(call.params.bytes().data()));
  const CLibrary::Function function = library_.add(kernel);
  kernels_.insert(function.name);
  std::string definitions;
  const std::string given = arguments(program, call, kernel, function, definitions);
  return fmt::format("  {{ /* {} */\n{}    THIMBLE_KERNEL(\"{}\", \"{}\")\n    {}({});\n  }}\n",
                     comment, definitions, function.name, quoted(name), function.name, given);
}

}  // namespace thimble::emit
