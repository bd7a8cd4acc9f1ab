#include "emit/micro_kernels.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>

#include "emit/calls.h"
#include "emit/kernel_texts.h"

namespace thimble::emit {
namespace {

constexpr const char* kRuntimeMakefile =
    R"(# thimble-micro as a library: make CC=arm-none-eabi-gcc CFLAGS="-Os -mcpu=cortex-m7 -mthumb"
CFLAGS ?= -O2
override CFLAGS += -std=c99 -ffp-contract=off -ffunction-sections -fdata-sections
objects = open.o run.o sweep.o kernels.o

libthimble_micro.a: $(objects)
	$(AR) rcs $@ $(objects)
%.o: %.c $(wildcard *.h)
	$(CC) $(CFLAGS) -c -o $@ $<
clean:
	rm -f $(objects) libthimble_micro.a
.PHONY: clean
)";

std::string micro_name(const KernelName& kernel) {
  return kernel.folder.empty() ? kernel.symbol : kernel.folder + "/" + kernel.symbol;
}

// One file of the runtime, whose files lie in one folder.
std::string flattened(std::string text) {
  for (const std::string folder : {"micro/", "ops/families/extents/"}) {
    const std::string include = "#include \"" + folder;
    for (size_t at = text.find(include); at != std::string::npos; at = text.find(include, at)) {
      text.replace(at, include.size(), "#include \"");
    }
  }
  return text;
}

// The statement that calls a kernel with the arguments of a program's call.
std::string micro_call_of(const MicroKernel& kernel) {
  std::string definitions;
  std::string arguments;
  size_t out = 0;
  size_t in = 0;
  for (const std::string& declaration : kernel.function.parameters) {
    const Parameter parameter = parameter_of(declaration);
    const std::string constant = parameter.is_const ? "const " : "";
    arguments += arguments.empty() ? "" : ", ";
    if (parameter.type == kernel.params_type) {
      arguments += fmt::format("(const {}*)params", parameter.type);
    } else if (parameter.pointers == 2) {
      const size_t count = parameter.is_const ? 8 : 4;
      const char* const array = parameter.is_const ? "in" : "out";
      std::string all;
      for (size_t i = 0; i < count; ++i) {
        all +=
            fmt::format("{}({}{}*){}[{}]", i == 0 ? "" : ", ", constant, parameter.type, array, i);
      }
      definitions +=
          fmt::format("  {}{}* const all_{}[] = {{{}}};\n", constant, parameter.type, array, all);
      arguments += fmt::format("all_{}", array);
    } else {
      arguments +=
          fmt::format("({}{}*){}[{}]", constant, parameter.type, parameter.is_const ? "in" : "out",
                      parameter.is_const ? in++ : out++);
    }
  }
  return fmt::format("{}  (void)in;\n  {}({});\n", definitions, kernel.function.name, arguments);
}

// How many outputs and inputs a kernel takes, in their order; SIZE_MAX where it takes an array.
struct Arguments {
  size_t outputs = 0;
  size_t inputs = 0;
};
Arguments arguments_of(const MicroKernel& kernel) {
  Arguments all;
  for (const std::string& declaration : kernel.function.parameters) {
    const Parameter parameter = parameter_of(declaration);
    if (parameter.type == kernel.params_type) continue;
    size_t& count = parameter.is_const ? all.inputs : all.outputs;
    if (count != SIZE_MAX) count = parameter.pointers == 2 ? SIZE_MAX : count + 1;
  }
  return all;
}

}  // namespace

const MicroKernel* MicroKernels::find(const KernelName& kernel, std::string& lacks) {
  const std::string name = micro_name(kernel);
  const auto known = kernels_.find(name);
  if (known != kernels_.end()) return &known->second;
  if (kernel.real != "float") {
    lacks = "it computes in integers";
    return nullptr;
  }
  MicroKernel made{.name = name, .kernel = kernel};
  made.function = library_.add(kernel);
  for (const std::string& declaration : made.function.parameters) {
    const Parameter parameter = parameter_of(declaration);
    if (structs_.is_known(parameter.type) && structs_.is_struct(parameter.type)) {
      made.params_type = parameter.type;
    }
    if (parameter.pointers == 0 || (parameter.type == "void" && !parameter.is_const)) {
      lacks = "it needs a workspace or takes any number of inputs";
      return nullptr;
    }
  }
  if (made.params_type.empty() || !library_.tail_of(kernel).empty()) {
    lacks = "its sizes are no plain structure";
    return nullptr;
  }
  made.params_bytes = structs_.bytes(made.params_type);
  const Arguments count = arguments_of(made);
  std::vector<std::string> subjects{kernel.symbol};
  if (count.outputs == 1) subjects.push_back(fmt::format("{}_{}", made.params_type, count.inputs));
  for (const std::string& subject : subjects) {
    try {
      made.extents = library_.add({"", "float", subject + "_extents"}).name;
      break;
    } catch (const Error&) {
      lacks = "it is none of the runtime's ops";
    }
  }
  if (made.extents.empty()) return nullptr;
  return &(kernels_[name] = std::move(made));
}

const MicroKernel& MicroKernels::of(const program::Program& program, const program::Call& call) {
  const std::string where = call.outputs.empty() ? "" : *program.tensor(call.outputs.front()).name;
  const auto fail = [&](const std::string& why) {
    // In the step of an imported model only an optimizer's op writes what is stored.
    const bool is_update = !call.outputs.empty() &&
                           program.tensor(call.outputs.front()).place == program::Place::stored;
    throw Error(
        "thimble-micro",
        fmt::format("has no kernel for {} of \"{}\": {}. {}, or take thimble export-c, which "
                    "writes all kernels as C",
                    call.op->name, where, why,
                    is_update ? "Take another optimizer, such as sgd, momentum, adam or rmsprop"
                              : "Train other layers where it is a gradient"));
  };
  check_has_source(program, call);
  std::string lacks;
  const MicroKernel* const found =
      find(kernel_name_of(call.kernel.name(call.params.bytes().data())), lacks);
  if (found == nullptr) fail(lacks);
  if (static_cast<int64_t>(call.params.bytes().size()) < found->params_bytes) {
    fail("its sizes are no plain structure");
  }
  for (size_t i = arguments_of(*found).inputs; i < call.inputs.size(); ++i) {
    if (call.inputs[i] >= 0) fail("it does not take all inputs of the op");
  }
  return *found;
}

const MicroKernel& MicroKernels::named(const std::string& name) {
  const size_t slash = name.find('/');
  const KernelName kernel{slash == std::string::npos ? "" : name.substr(0, slash), "float",
                          slash == std::string::npos ? name : name.substr(slash + 1)};
  std::string lacks = "there is none of this name";
  const MicroKernel* found = nullptr;
  try {
    found = find(kernel, lacks);
  } catch (const Error&) {
    found = nullptr;
  }
  if (found == nullptr) throw Error("thimble-micro", "has no kernel " + name + ": " + lacks);
  return *found;
}

std::string MicroKernels::source() {
  std::string calls;
  std::string table;
  int number = 0;
  for (const auto& [name, kernel] : kernels_) {
    calls += fmt::format(
        "static void run_{}(void* const* out, const void* const* in, const void* params) "
        "{{\n{}}}\n",
        number, micro_call_of(kernel));
    table += fmt::format("    {{\"{}\", sizeof({}), {}, run_{}}},\n", name, kernel.params_type,
                         kernel.extents, number++);
  }
  return std::string(
             "/* The kernels that are linked in: plain C99, from thimble's reference kernels. */\n"
             "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n") +
         (library_.uses_c_math() ? "#include <tgmath.h>\n\n" : "\n") + library_.text() +
         "\n#define THIMBLE_OPS_FAMILIES_EXTENTS_EXTENTS_H_ /* it stands above */\n"
         "#include \"kernel_table.h\"\n\n" +
         calls + "\nconst micro_kernel micro_kernels[] = {\n" + table +
         "};\nconst uint32_t micro_kernel_count = sizeof micro_kernels / sizeof "
         "micro_kernels[0];\n";
}

std::map<std::string, std::string> micro_sources(const std::vector<std::string>& kernels,
                                                 const std::string& made_by) {
  std::map<std::string, std::string> files;
  MicroKernels table;
  std::string list;
  for (const std::string& name : kernels) {
    static_cast<void>(table.named(name));
    list += name + "\n";
  }
  for (const KernelText& text : kernel_texts()) {
    const bool is_runtime = text.path.starts_with("micro/");
    if (!is_runtime && text.path != "ops/families/extents/extents.h") continue;
    files[std::string(text.path.substr(text.path.rfind('/') + 1))] =
        flattened(std::string(text.text));
  }
  files["kernels.c"] = "/* Made by " + made_by + "; do not edit. */\n" + table.source();
  files["kernels.txt"] = list;
  files["Makefile"] = kRuntimeMakefile;
  return files;
}

}  // namespace thimble::emit
