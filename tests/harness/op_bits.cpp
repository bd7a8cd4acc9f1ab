#include "harness/op_bits.h"

#include <fmt/format.h>
#include <thimble/data_loader.h>
#include <thimble/recipes.h>
#include <thimble/trainer.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "harness/op_checks.h"
#include "harness/op_data.h"
#include "harness/vector_targets.h"

namespace thimble::test {
namespace {

using ir::Bytes;

// FNV-1a.
class Hash {
 public:
  void add(const void* data, size_t bytes) {
    const auto* const p = static_cast<const unsigned char*>(data);
    for (size_t i = 0; i < bytes; ++i) hash_ = (hash_ ^ p[i]) * 0x100000001b3U;
  }
  void add(const std::string& text) { add(text.data(), text.size()); }
  void add(int64_t number) { add(&number, sizeof(number)); }
  void add(const Bytes& bytes, DType dtype) {
    if (dtype != DType::f32) {
      add(bytes.data(), bytes.size());
      return;
    }
    for (size_t i = 0; i < bytes.size(); i += sizeof(float)) {
      float v;
      std::memcpy(&v, bytes.data() + i, sizeof(v));
      if (std::isnan(v)) v = std::numeric_limits<float>::quiet_NaN();
      add(&v, sizeof(v));
    }
  }
  [[nodiscard]] uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0xcbf29ce484222325U;
};

void print(std::FILE* out, const std::string& what, const std::string& kernel, const Hash& inputs,
           const Hash& outputs) {
  fmt::print(out, "{} {} {:016x} {:016x}\n", what, kernel, inputs.value(), outputs.value());
}

Hash hash_of(const ir::Graph& graph, const std::vector<int>& ids,
             const std::vector<Bytes>& values) {
  Hash hash;
  for (const int id : ids) {
    if (id >= 0) hash.add(values[static_cast<size_t>(id)], graph.type(id).dtype);
  }
  return hash;
}

void print_case(std::FILE* out, const ir::OpDef& op, const OpCase& test) {
  const CaseGraph made = make_graph(op, test, true);
  const auto values = ir::run_reference(
      made.graph, make_data(made, test, 1).bytes(ir::Precision::f32), ir::Precision::f32);
  int number = 0;
  for (const ir::Node& node : made.graph.nodes) {
    const std::string what =
        fmt::format("{}.{}/{}:{}", op.name, test.name, number++, node.op->name);
    const Hash inputs = hash_of(made.graph, node.inputs, values);
    print(out, what, "reference", inputs, hash_of(made.graph, node.outputs, values));
    if (ir::kernels_of(made.graph, node).fast == nullptr) continue;
    for_each_target([&](const std::string& target) {
      const std::vector<Bytes> outputs = run_fast(made.graph, node, values);
      Hash hash;
      for (size_t i = 0; i < outputs.size(); ++i) {
        hash.add(outputs[i], made.graph.type(node.outputs[i]).dtype);
      }
      print(out, what, target, inputs, hash);
    });
  }
}

// Recipes that are compiled in seconds under an emulator.
constexpr const char* kRecipes[] = {"lenet5", "lstm", "mlp", "vae"};

void print_recipe(std::FILE* out, const Recipe& recipe) {
  Hash initial;
  const Trainer trainer(recipe.build(), {.batch = recipe.batch, .seed = 1, .threads = 1});
  initial.add(trainer.weights_sha256());
  print(out, fmt::format("initial.{}/0:initial_values", recipe.name), "reference", {}, initial);
  Hash plan;
  for (const PlanBuffer& buffer : trainer.plan().buffers) {
    plan.add(buffer.name);
    plan.add(buffer.bytes);
    plan.add(buffer.offset);
    plan.add(buffer.birth);
    plan.add(buffer.death);
  }
  print(out, fmt::format("plan.{}/0:plan", recipe.name), "reference", {}, plan);
  constexpr int64_t kSamples = 20;
  const data::Dataset set = recipe.data("", data::Split::train).take(kSamples);
  Hash samples;
  std::vector<Bytes> fields;
  std::vector<void*> places;
  for (const data::Field& field : set.fields()) {
    fields.emplace_back(static_cast<size_t>(size_bytes(field.dtype, field.shape)));
  }
  for (Bytes& field : fields) places.push_back(field.data());
  for (int64_t i = 0; i < set.size(); ++i) {
    set.read(i, places);
    for (size_t f = 0; f < fields.size(); ++f) samples.add(fields[f], set.fields()[f].dtype);
  }
  print(out, fmt::format("samples.{}/0:built_in_samples", recipe.name), "reference", {}, samples);
}

}  // namespace

void print_bits(std::FILE* out) {
  for (const auto& [name, cases] : op_tables()) {
    const ir::OpDef* const op = ir::find_op(name);
    if (op == nullptr) throw Error(name, "no such op in the library");
    for (const OpCase& test : cases().cases) print_case(out, *op, test);
  }
  for (const char* const recipe : kRecipes) print_recipe(out, find_recipe(recipe));
  Hash order;
  for (const int64_t sample : data::epoch_order(60000, 7, 3)) order.add(sample);
  print(out, "order.60000/0:order_of_samples", "reference", {}, order);
}

}  // namespace thimble::test
