// Build files, a page to read, and a test that compares with what the engine computed.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emit/c_names.h"
#include "emit/c_struct.h"
#include "emit/emit.h"

namespace thimble::emit {
namespace {

constexpr const char* kMakefile =
    R"c(# Builds the model's test for this machine and runs it: make test.
# Kernels need -ffp-contract=off: a fused multiplication and addition rounds otherwise.
CC ?= cc
CFLAGS ?= -O2
FLAGS = -std=c99 -pedantic -Wall -Wextra -Werror -ffp-contract=off

test: thimble_test
	./thimble_test

thimble_test: thimble_test.c thimble_model.c thimble_model.h thimble_kernels.h thimble_weights.h
	$(CC) $(FLAGS) $(CFLAGS) thimble_test.c thimble_model.c -lm -o thimble_test

clean:
	rm -f thimble_test

.PHONY: test clean
)c";

constexpr const char* kCMake = R"c(cmake_minimum_required(VERSION 3.16)
project(thimble_model C)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_EXTENSIONS OFF)

add_library(thimble_model STATIC thimble_model.c)
target_include_directories(thimble_model PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
# A fused multiplication and addition rounds otherwise.
target_compile_options(thimble_model PRIVATE -ffp-contract=off)
target_link_libraries(thimble_model PUBLIC m)

enable_testing()
add_executable(thimble_test thimble_test.c)
target_link_libraries(thimble_test PRIVATE thimble_model)
add_test(NAME thimble_test COMMAND thimble_test)
)c";

constexpr const char* kReadme = R"c(# {0}, as C99

Made by {1}. `thimble_model.h` has the functions, `thimble_model.c` their calls of kernels, in order,
with the place of every buffer; `thimble_kernels.h` the kernels, `thimble_weights.h` what lies in flash.

| memory | bytes |
| --- | --- |
| arena, in RAM | {2} |
| trained parameters and optimizer state, in RAM | {3} |
| constants, frozen parameters and first values, in flash | {4} |

`make test` builds a test for this machine and runs it: the C functions must give the bits that thimble
computed when it wrote them. Other compilers need `-ffp-contract=off` or its like, and neither
`-ffast-math` nor flushing of small numbers to zero.

```c
static uint64_t arena[THIMBLE_ARENA_BYTES / 8 + 1];
static uint64_t state[THIMBLE_STATE_BYTES / 8 + 1];
thimble_model model;
thimble_init(&model, arena, sizeof arena, state, sizeof state);
```
)c";

// Names that the test of a model's arrays has.
std::string array_of(const Argument& argument) {
  return fmt::format("static {} {}[{}];\n", c_type(argument.type.dtype),
                     "given_" + argument.identifier,
                     std::max<int64_t>(1, size_bytes(argument.type.dtype, argument.type.shape) /
                                              scalar_bytes(c_type(argument.type.dtype))));
}

constexpr const char* kTestStart =
    R"c(/* Compares the C functions with what thimble computed, bit for bit. */
#include <stdio.h>
#include <string.h>

#include "thimble_model.h"

static uint64_t arena[THIMBLE_ARENA_BYTES / 8 + 1];
static uint64_t state[THIMBLE_STATE_BYTES / 8 + 1];
static unsigned char saved[THIMBLE_SAVED_BYTES];
static size_t saved_bytes;
static int failures;

static void expect(int holds, const char* what) {
  if (holds) return;
  printf("failed: %s\n", what);
  ++failures;
}

static uint64_t checksum(uint64_t hash, const void* data, size_t bytes) {
  const unsigned char* at = (const unsigned char*)data;
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ at[i]) * 1099511628211U;
  return hash;
}

/* The same numbers as in the engine's run. */
static uint32_t next_number(uint32_t* random) {
  *random = *random * 1664525U + 1013904223U;
  return *random >> 8;
}

static int write_saved(void* user, const void* data, size_t bytes) {
  (void)user;
  if (saved_bytes + bytes > sizeof saved) return 1;
  memcpy(saved + saved_bytes, data, bytes);
  saved_bytes += bytes;
  return 0;
}

static int read_saved(void* user, size_t offset, void* data, size_t bytes) {
  (void)user;
  if (offset + bytes > sizeof saved) return 1;
  memcpy(data, saved + offset, bytes);
  return 0;
}

)c";

// Statements that fill the arrays.
std::string fill(const std::vector<Argument>& arguments, const Golden& golden) {
  std::string text;
  for (const Argument& argument : arguments) {
    const char* const type = c_type(argument.type.dtype);
    const auto index = golden.index_sizes.find(argument.name);
    std::string value = "(unsigned char)next_number(random)";
    if (index != golden.index_sizes.end()) {
      value = fmt::format("({})(next_number(random) % {}U)", type, index->second);
    } else if (argument.type.dtype == DType::f32 || argument.type.dtype == DType::f64) {
      value = fmt::format("({})next_number(random) / 16777216", type);
    } else if (!is_packed(argument.type.dtype)) {
      value = fmt::format("({})((int)(next_number(random) % 256U) - {})", type,
                          argument.type.dtype == DType::u8 ? 0 : 128);
    }
    text += fmt::format("  for (size_t i = 0; i < sizeof {0} / sizeof {0}[0]; ++i) {0}[i] = {1};\n",
                        "given_" + argument.identifier, value);
  }
  return text;
}

std::string names_of(const std::vector<Argument>& arguments, const char* prefix) {
  std::string text;
  for (const Argument& argument : arguments)
    text += ", " + std::string(prefix) + argument.identifier;
  return text;
}

std::string hex_bytes(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", static_cast<unsigned>(byte));
  }
  return text;
}

// One step with its checks.
std::string step_text(const Sources& sources, const Golden& golden, size_t number) {
  const Golden::Step& step = golden.steps[number];
  std::string text = fmt::format(
      "  /* step {0} */\n  fill_batch(&random);\n"
      "  expect(thimble_train_step(&model{1}, {2}, &result) == THIMBLE_OK, \"step {0} runs\");\n",
      number + 1, names_of(sources.interface.train_inputs, "given_"),
      number_text("float", std::as_bytes(std::span(&step.learning_rate, 1))));
  for (size_t i = 0; i < sources.interface.results.size(); ++i) {
    const Argument& result = sources.interface.results[i];
    const char* const address = result.type.shape.elements() == 1 ? "&" : "";
    text += fmt::format(
        "  {{\n    static const unsigned char wanted[] = {{{}}};\n"
        "    expect(memcmp(wanted, {}result.{}, sizeof wanted) == 0, \"{} of step "
        "{}\");\n  }}\n",
        hex_bytes(step.results[i]), address, result.identifier, result.identifier, number + 1);
  }
  return text;
}

std::string training_test(const Sources& sources, const Golden& golden) {
  std::string text =
      "/* Steps of training, compared with those of the engine. */\n"
      "static void test_training(void) {\n  thimble_model model;\n"
      "  thimble_result result;\n";
  text += fmt::format("  uint32_t random = {}U;\n", kTestSeed);
  text +=
      "  expect(thimble_init(&model, arena, sizeof arena, state, sizeof state) == THIMBLE_OK, "
      "\"init\");\n";
  for (size_t i = 0; i < golden.steps.size(); ++i) text += step_text(sources, golden, i);
  text += fmt::format(
      "  expect(checksum(14695981039346656037U, state, THIMBLE_STATE_BYTES) == "
      "{}U, \"parameters and optimizer state\");\n}}\n\n",
      golden.state);
  return text;
}

std::string prediction_test(const Sources& sources, const Golden& golden) {
  std::string text = fmt::format(
      "/* A prediction after these steps. */\nstatic void test_prediction(void) {{\n"
      "  thimble_model model;\n  uint32_t random = {}U;\n"
      "  expect(thimble_init(&model, arena, sizeof arena, state, sizeof state) == THIMBLE_OK, "
      "\"init\");\n",
      kTestSeed);
  if (!golden.steps.empty()) {
    text += "  expect(thimble_load(&model, read_saved, NULL) == THIMBLE_OK, \"load\");\n";
  }
  text += "  fill_inputs(&random);\n";
  text += fmt::format("  expect(thimble_predict(&model{}{}) == THIMBLE_OK, \"prediction\");\n",
                      names_of(sources.interface.predict_inputs, "given_"),
                      names_of(sources.interface.outputs, "given_"));
  for (const auto& [name, sum] : golden.outputs) {
    for (const Argument& output : sources.interface.outputs) {
      if (output.name != name) continue;
      text += fmt::format(
          "  expect(checksum(14695981039346656037U, given_{0}, sizeof given_{0}) == "
          "{1}U, \"{0}\");\n",
          output.identifier, sum);
    }
  }
  return text + "}\n\n";
}

constexpr const char* kSavingTest =
    R"c(/* What is saved can be loaded; what is damaged is refused and changes nothing. */
static void test_saving(void) {
  thimble_model model;
  uint64_t before;
  model.arena = (unsigned char*)arena;
  model.state = (unsigned char*)state;
  model.seed = 5;
  model.step = 7;
  before = checksum(14695981039346656037U, state, THIMBLE_STATE_BYTES);
  saved_bytes = 0;
  expect(thimble_save(&model, write_saved, NULL) == THIMBLE_OK, "save");
  expect(saved_bytes == sizeof saved, "bytes saved");
  for (size_t i = 0; i < sizeof saved; i += 1 + sizeof saved / 97) {
    saved[i] ^= 4;
    expect(thimble_load(&model, read_saved, NULL) == THIMBLE_BAD_FILE, "damage is found");
    saved[i] ^= 4;
  }
  expect(checksum(14695981039346656037U, state, THIMBLE_STATE_BYTES) == before,
         "damage changes nothing");
  memset(state, 1, sizeof state);
  model.step = 0;
  expect(thimble_load(&model, read_saved, NULL) == THIMBLE_OK, "load");
  expect(model.seed == 5 && model.step == 7, "seed and step");
  expect(checksum(14695981039346656037U, state, THIMBLE_STATE_BYTES) == before, "state");
}

)c";

std::string host_test(const Sources& sources, const Golden& golden) {
  const Interface& interface = sources.interface;
  std::string text = kTestStart;
  std::set<std::string> known;
  for (const auto* list :
       {&interface.train_inputs, &interface.predict_inputs, &interface.outputs}) {
    for (const Argument& argument : *list) {
      if (known.insert(argument.identifier).second) text += array_of(argument);
    }
  }
  const bool trains = !golden.steps.empty();
  const bool predicts = !interface.outputs.empty();
  if (trains) {
    text += "\nstatic void fill_batch(uint32_t* random) {\n" +
            fill(interface.train_inputs, golden) + "  (void)random;\n}\n";
  }
  if (predicts) {
    text += "\nstatic void fill_inputs(uint32_t* random) {\n" +
            fill(interface.predict_inputs, golden) + "  (void)random;\n}\n";
  }
  text += "\n";
  if (trains) text += training_test(sources, golden);
  text += kSavingTest;
  if (predicts) text += prediction_test(sources, golden);
  text += "int main(void) {\n";
  if (trains) text += "  test_training();\n";
  text += "  test_saving();\n";
  if (predicts) text += "  test_prediction();\n";
  return text +
         "  printf(failures == 0 ? \"%s: all equal\\n\" : \"%s: differs\\n\", thimble_version());\n"
         "  return failures == 0 ? 0 : 1;\n}\n";
}

}  // namespace

std::vector<std::byte> test_input(const Argument& argument, int64_t index_size, uint32_t& random) {
  const DType dtype = argument.type.dtype;
  std::vector<std::byte> bytes(static_cast<size_t>(size_bytes(dtype, argument.type.shape)));
  const auto each = static_cast<size_t>(scalar_bytes(c_type(dtype)));
  const auto put = [&](size_t at, auto value) { std::memcpy(bytes.data() + at, &value, each); };
  for (size_t at = 0; at + each <= bytes.size(); at += each) {
    random = random * 1664525U + 1013904223U;
    const uint32_t number = random >> 8;
    if (index_size > 0) {
      put(at, static_cast<int64_t>(number % static_cast<uint32_t>(index_size)));
    } else if (dtype == DType::f32) {
      put(at, static_cast<float>(number) / 16777216);
    } else if (dtype == DType::f64) {
      put(at, static_cast<double>(number) / 16777216);
    } else if (is_packed(dtype)) {
      put(at, static_cast<int64_t>(number & 255U));
    } else {
      put(at, static_cast<int64_t>(number % 256U) - (dtype == DType::u8 ? 0 : 128));
    }
  }
  return bytes;
}

void add_project(Sources& sources, const Model& model, const Golden& golden) {
  sources.files["thimble_test.c"] = host_test(sources, golden);
  sources.files["Makefile"] = kMakefile;
  sources.files["CMakeLists.txt"] = kCMake;
  sources.files["README.md"] =
      fmt::format(fmt::runtime(kReadme), model.name, model.made_by, sources.sizes.arena_bytes,
                  sources.sizes.state_bytes, sources.sizes.constant_bytes);
}

}  // namespace thimble::emit
