#include "ir/function_def.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "ir/graph.h"

namespace thimble::ir::function_test {
namespace {

// Sets the options that have no default, by their names.
class Setter final : public OptionVisitor {
 public:
  explicit Setter(bool switches) : switches_(switches) {}
  std::set<std::string> names;
  void field(const char* name, bool& value, const char*) override {
    names.insert(name);
    if (switches_) value = true;
  }
  void field(const char* name, int64_t& value, const char* doc) override {
    names.insert(name);
    if (value == 0 && std::string_view(doc).find("must be set") != std::string_view::npos) {
      value = 4;
    }
    const bool is_switch = std::string_view(doc).find("0: none") != std::string_view::npos;
    if (switches_ && is_switch) value = 2;
  }
  void field(const char* name, double&, const char*) override { names.insert(name); }
  void field(const char* name, Pair&, const char*) override { names.insert(name); }
  void field(const char* name, Padding&, const char*) override { names.insert(name); }
  void field(const char* name, std::vector<int64_t>& value, const char*) override {
    names.insert(name);
    if (value.empty()) value = {1, 3};
  }
  void field(const char* name, Shape&, const char*) override { names.insert(name); }
  void field(const char* name, DType&, const char*) override { names.insert(name); }
  void choice(const char* name, int&, std::span<const char* const>, const char*) override {
    names.insert(name);
  }
  void field(const char* name, std::string& value, const char*) override {
    names.insert(name);
    value = "mine";
  }
  void field(const char* name, Initializer&, const char*) override { names.insert(name); }
  void field(const char* name, std::optional<Initializer>&, const char*) override {
    names.insert(name);
  }

 private:
  bool switches_;  // turn on whatever can be
};

// A sample with as many dimensions as the text "[N, ...]" of an input says; an image if it is open.
Shape sample_of(const std::string& doc) {
  const std::string shape = doc.substr(0, doc.find(']'));
  std::vector<int64_t> dims(static_cast<size_t>(std::count(shape.begin(), shape.end(), ',')), 6);
  if (shape.find("...") != std::string::npos) dims = {6, 6, 6};
  if (!dims.empty()) dims.back() = 4;
  return Shape(dims);
}

// The parameters and states that a layer creates, by their names within it. optional: give
// optional batches as well, of another width than the others.
std::set<std::string> created_by(const FunctionDef& f, bool switches, bool optional = false) {
  thimble::Graph g;
  std::vector<Value> inputs(f.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ArgDoc& input = f.inputs[i];
    if (input.optional && optional && std::string_view(input.doc).starts_with("[N, ")) {
      std::vector<int64_t> dims = sample_of(input.doc).dims();
      dims.back() = 5;
      inputs[i] = g.input(input.name, Shape(dims));
    }
    if (input.optional) continue;
    const bool is_floating = type_rows(f)[0][i].has(DType::f32);
    inputs[i] = g.input(input.name, sample_of(input.doc), is_floating ? DType::f32 : DType::i32);
  }
  Setter setter(switches);
  const auto options = f.options.make();
  f.options.visit(options.get(), setter);
  EXPECT_EQ(f.build(inputs, options.get()).size(), f.outputs.size());
  EXPECT_TRUE(setter.names.contains("name"));
  std::set<std::string> created;
  for (const ValueData& value : g.ir().values) {
    if (is_persistent(value.role)) created.insert(value.name->substr(value.name->find('.') + 1));
  }
  return created;
}

// The values that it creates for further batches; none where it refuses them.
std::set<std::string> created_for_more(const FunctionDef& f) {
  try {
    return created_by(f, false, true);
  } catch (const Error&) {
    return {};
  }
}

TEST(functions, layers_create_the_parameters_they_describe) {
  int layers = 0;
  for (const FunctionDef* f : all_functions()) {
    if (!f->is_layer()) continue;
    SCOPED_TRACE(f->name);
    ++layers;
    const std::set<std::string> usual = created_by(*f, false);
    std::set<std::string> most = created_by(*f, true);
    most.merge(created_for_more(*f));
    std::set<std::string> described;
    for (const ArgDoc& parameter : f->parameters) {
      described.insert(parameter.name);
      EXPECT_TRUE(most.contains(parameter.name)) << parameter.name;
      EXPECT_TRUE(parameter.optional || usual.contains(parameter.name)) << parameter.name;
    }
    for (const std::string& name : usual) EXPECT_TRUE(described.contains(name)) << name;
  }
  EXPECT_GE(layers, 5);
}

TEST(functions, stand_in_order_of_name_and_are_found_by_it) {
  std::string last;
  for (const FunctionDef* f : all_functions()) {
    EXPECT_LT(last, f->name);
    last = f->name;
    EXPECT_EQ(find_function(f->name), f);
    EXPECT_NE(std::string(f->doc), "") << f->name;
    EXPECT_FALSE(f->outputs.empty()) << f->name;
  }
  EXPECT_EQ(find_function("no such function"), nullptr);
}

TEST(functions, gradients_and_updates_are_not_for_users) {
  EXPECT_TRUE(is_for_users(*find_op("relu")));
  EXPECT_FALSE(is_for_users(*find_op("relu_grad")));
  EXPECT_FALSE(is_for_users(*find_op("adamw_update")));
  for (const OpDef* op : all_ops()) {
    if (op->is_gradient) {
      EXPECT_FALSE(is_for_users(*op)) << op->name << " has an example: users would see it";
    }
  }
}

}  // namespace
}  // namespace thimble::ir::function_test
