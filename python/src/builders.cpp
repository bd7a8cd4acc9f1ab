// Describes all ops and layers, and calls them by name.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <thimble/ops/time_distributed.h>

#include <limits>

#include "bindings.h"
#include "ir/function_def.h"
#include "option_reader.h"

namespace thimble::python {
namespace {

// Collects name, kind, default and meaning of every field.
class Describer final : public ir::OptionVisitor {
 public:
  nb::list fields;

  void field(const char* name, bool& v, const char* doc) override {
    add(name, "bool", nb::bool_(v), doc);
  }
  void field(const char* name, int64_t& v, const char* doc) override {
    add(name, "int", nb::int_(v), doc);
  }
  void field(const char* name, double& v, const char* doc) override {
    add(name, "float", nb::float_(v), doc);
  }
  void field(const char* name, Pair& v, const char* doc) override {
    add(name, "pair", v.h == v.w ? nb::object(nb::int_(v.h)) : nb::make_tuple(v.h, v.w), doc);
  }
  void field(const char* name, Padding& v, const char* doc) override {
    nb::object value = nb::make_tuple(v.top, v.bottom, v.left, v.right);
    if (v.automatic) value = nb::str("same");
    if (!v.automatic && v == Padding(v.top)) value = nb::int_(v.top);
    add(name, "padding", value, doc);
  }
  void field(const char* name, std::vector<int64_t>& v, const char* doc) override {
    add(name, "ints", shape_tuple(Shape(v)), doc);
  }
  void field(const char* name, Shape& v, const char* doc) override {
    add(name, "shape", shape_tuple(v), doc);
  }
  void field(const char* name, DType& v, const char* doc) override {
    add(name, "dtype", nb::str(to_string(v)), doc);
  }
  void choice(const char* name, int& v, std::span<const char* const> names,
              const char* doc) override {
    nb::list all;
    for (const char* const each : names) all.append(each);
    add(name, "choice", nb::str(names[static_cast<size_t>(v)]), doc);
    fields[fields.size() - 1]["choices"] = nb::tuple(all);
  }
  void field(const char* name, std::string& v, const char* doc) override {
    add(name, "str", nb::str(v.c_str()), doc);
  }
  void field(const char* name, Initializer&, const char* doc) override {
    add(name, "initializer", nb::none(), doc);
  }
  void field(const char* name, std::optional<Initializer>&, const char* doc) override {
    add(name, "initializer", nb::none(), doc);
  }

 private:
  void add(const char* name, const char* kind, const nb::object& value, const char* doc) {
    nb::dict field;
    field["name"] = name;
    field["kind"] = kind;
    field["default"] = value;
    field["doc"] = doc;
    fields.append(field);
  }
};

// [[names of types of each input] of each row], see ir::type_rows.
nb::list rows_of(const std::vector<std::vector<ir::TypeSet>>& rows) {
  nb::list all;
  for (const std::vector<ir::TypeSet>& row : rows) {
    nb::list inputs;
    for (const ir::TypeSet& types : row) {
      nb::list names;
      for (const DType dtype : kDTypes) {
        if (types.has(dtype)) names.append(to_string(dtype));
      }
      inputs.append(names);
    }
    all.append(inputs);
  }
  return all;
}

// For each input "takes": the types that it takes in any of these rows, in words.
void describe_types(const nb::list& inputs, const std::vector<std::vector<ir::TypeSet>>& rows) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    ir::TypeSet taken;
    for (const std::vector<ir::TypeSet>& row : rows) taken |= row[i];
    inputs[i]["takes"] = ir::to_string(taken);
  }
}

nb::list described(const std::vector<ir::ArgDoc>& args) {
  nb::list list;
  for (const ir::ArgDoc& arg : args) {
    nb::dict one;
    one["name"] = arg.name;
    one["doc"] = arg.doc;
    one["optional"] = arg.optional;
    one["batch_rank"] = arg.batch_rank;
    one["state"] = arg.state;
    one["type_of"] = arg.type_of;
    list.append(one);
  }
  return list;
}

nb::dict describe_op(const ir::OpDef& op) {
  Describer describer;
  ir::Attrs::defaults(op.signature.attrs).visit(describer);
  nb::dict d;
  d["doc"] = op.signature.doc;
  d["example"] = op.signature.example;
  const auto rows = type_rows(op);
  d["inputs"] = described(op.signature.inputs);
  describe_types(nb::borrow<nb::list>(d["inputs"]), rows);
  d["types"] = rows_of(rows);
  d["outputs"] = described(op.signature.outputs);
  d["parameters"] = nb::list();
  d["options"] = describer.fields;
  d["required"] = nb::list();
  d["of_parameters"] = nb::list();
  d["variadic_inputs"] = op.signature.variadic_inputs;
  d["many_outputs"] = false;
  d["differentiable"] = op.gradient.vjp != nullptr;
  return d;
}

nb::dict describe_function(const ir::FunctionDef& f) {
  Describer describer;
  if (f.options.make != nullptr) f.options.visit(f.options.make().get(), describer);
  nb::dict d;
  d["doc"] = f.doc;
  d["example"] = f.example;
  const auto rows = type_rows(f);
  d["inputs"] = described(f.inputs);
  describe_types(nb::borrow<nb::list>(d["inputs"]), rows);
  d["types"] = rows_of(rows);
  d["outputs"] = described(f.outputs);
  d["parameters"] = described(f.parameters);
  d["options"] = describer.fields;
  d["required"] = nb::list();
  for (const char* const option : f.required) d["required"].attr("append")(option);
  d["of_parameters"] = nb::list();
  for (const char* const option : f.of_parameters) d["of_parameters"].attr("append")(option);
  d["variadic_inputs"] = false;
  d["many_outputs"] = f.many_outputs;
  d["differentiable"] = true;
  return d;
}

// {name: {"op": ..., "function": ...}}, either of the two or both.
nb::dict reflect() {
  nb::dict all;
  const auto entry = [&all](const char* name) {
    if (!all.contains(name)) all[name] = nb::dict();
    return nb::borrow<nb::dict>(all[name]);
  };
  for (const ir::OpDef* op : ir::all_ops()) {
    if (ir::is_for_users(*op) && !op->flow.reads_rng) entry(op->name)["op"] = describe_op(*op);
  }
  for (const ir::FunctionDef* f : ir::all_functions()) {
    entry(f->name)["function"] = describe_function(*f);
  }
  return all;
}

// {name: {"doc": ..., "options": ..., "type": ...}} of every optimizer. type: see
// ir::OptimizerRule.
nb::dict reflect_optimizers() {
  nb::dict all;
  for (const ir::OpDef* op : ir::all_ops()) {
    if (op->optimizer.name == nullptr) continue;
    nb::dict optimizer = describe_op(*op);
    optimizer["type"] = op->optimizer.type == nullptr ? nb::object(nb::none())
                                                      : nb::object(nb::str(op->optimizer.type));
    all[op->optimizer.name] = optimizer;
  }
  return all;
}

std::vector<Value> values_of(const std::string& name,
                             const std::vector<std::optional<PyValue>>& inputs,
                             std::shared_ptr<Graph>& owner) {
  std::vector<Value> values;
  for (const auto& input : inputs) {
    values.push_back(input ? input->value : Value());
    if (!input) continue;
    if (owner && owner != input->owner) throw Error(name, "the values belong to different graphs");
    owner = input->owner;
  }
  if (!owner) throw Error(name, "the first input is missing");
  return values;
}

void require_inputs(const std::string& name, const std::vector<ir::ArgDoc>& declared,
                    const std::vector<Value>& values) {
  for (size_t i = 0; i < declared.size(); ++i) {
    if (!declared[i].optional && (i >= values.size() || !values[i])) {
      throw Error(name, std::string("the input ") + declared[i].name + " is missing");
    }
  }
}

nb::list wrapped(const std::shared_ptr<Graph>& owner, const std::vector<Value>& values) {
  nb::list list;
  for (const Value& value : values) list.append(PyValue{owner, value});
  return list;
}

nb::list build_op(const std::string& name, const std::vector<std::optional<PyValue>>& inputs,
                  const nb::dict& attributes) {
  const ir::OpDef* const op = ir::find_op(name);
  if (op == nullptr) throw Error(name, "there is no op of this name");
  std::shared_ptr<Graph> owner;
  const std::vector<Value> values = values_of(name, inputs, owner);
  require_inputs(name, op->signature.inputs, values);
  OptionReader reader(name, attributes);
  const ir::Attrs attrs = ir::Attrs::defaults(op->signature.attrs).changed(reader);
  reader.finish();
  return wrapped(owner, owner->ir().add(*op, attrs, values));
}

nb::list build_function(const std::string& name, const std::vector<std::optional<PyValue>>& inputs,
                        const nb::dict& options) {
  const ir::FunctionDef* const function = ir::find_function(name);
  if (function == nullptr) throw Error(name, "there is no function of this name");
  std::shared_ptr<Graph> owner;
  std::vector<Value> values = values_of(name, inputs, owner);
  values.resize(function->inputs.size());
  require_inputs(name, function->inputs, values);
  OptionReader reader(name, options);
  std::shared_ptr<void> struct_;
  if (function->options.make != nullptr) {
    struct_ = function->options.make();
    function->options.visit(struct_.get(), reader);
  }
  reader.finish();
  return wrapped(owner, function->build(values, struct_.get()));
}

PyValue over_time(const PyValue& x, const nb::callable& function) {
  const Value y = time_distributed(x.value, [&](Value steps) {
    PyValue result;
    if (!nb::try_cast(function(PyValue{x.owner, steps}), result) || result.owner != x.owner) {
      throw Error("time_distributed", "expected a function that returns a Value of x's graph");
    }
    return result.value;
  });
  return {x.owner, y};
}

}  // namespace

void bind_builders(nb::module_& m) {
  m.def("reflect", &reflect,
        nb::sig("def reflect() -> dict[str, dict[str, dict[str, typing.Any]]]"),
        "The arguments of every op and layer.");
  m.def("reflect_optimizers", &reflect_optimizers,
        nb::sig("def reflect_optimizers() -> dict[str, dict[str, typing.Any]]"),
        "The settings of every optimizer.");
  m.def("build_op", &build_op, nb::arg("name"), nb::arg("inputs"), nb::arg("attributes"),
        nb::sig("def build_op(name: str, inputs: collections.abc.Sequence[Value | None], "
                "attributes: dict[str, object]) -> list[Value]"));
  m.def("build_function", &build_function, nb::arg("name"), nb::arg("inputs"), nb::arg("options"),
        nb::sig("def build_function(name: str, inputs: collections.abc.Sequence[Value | None], "
                "options: dict[str, object]) -> list[Value]"));
  m.def("time_distributed", &over_time, nb::arg("x"), nb::arg("function"));
}

}  // namespace thimble::python
