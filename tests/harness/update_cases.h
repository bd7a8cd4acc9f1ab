// Cases of the ops that are optimizers' rules: their inputs follow from the settings.
#pragma once

#include <thimble/optimizers.h>

#include <string>
#include <utility>
#include <vector>

#include "harness/op_cases.h"
#include "ir/optimizer_value.h"

namespace thimble::test {

// Where the numbers of a state lie; left out: [0.01, 1).
using StateRanges = std::vector<std::pair<double, double>>;

inline OpCase update_case(std::string name, const Shape& shape, const Optimizer& optimizer,
                          const StateRanges& ranges = {}, double step = 3) {
  OpCase test{.name = std::move(name), .attrs = optimizer.value().settings};
  test.inputs = {{.shape = shape, .state = true},
                 {.shape = shape},
                 {.shape = {}, .low = 0.1, .high = 0.5},
                 {.shape = {}, .dtype = DType::i32, .low = step, .high = step}};
  test.expect = {shape};
  const ir::OptimizerRule& rule = optimizer.value().op->optimizer;
  size_t number = 0;
  for (const ir::StateSpec& spec : rule.states(optimizer.value().settings, shape)) {
    TensorSpec state{.shape = spec.type.shape, .dtype = spec.type.dtype, .state = true};
    const bool given = number < ranges.size();
    state.low = given ? ranges[number].first : 0.01;
    state.high = given ? ranges[number].second : 1.0;
    test.inputs.push_back(state);
    test.expect.push_back(spec.type.shape);
    ++number;
  }
  return test;
}

// The same with a momentum from the schedule, as the last input.
inline OpCase with_momentum(OpCase test, const Optimizer& optimizer, double momentum = 0.7) {
  const size_t last = optimizer.value().op->signature.inputs.size() - 1;
  while (test.inputs.size() < last) test.inputs.push_back({.absent = true});
  test.inputs.push_back({.shape = {}, .low = momentum, .high = momentum});
  return test;
}

// A case of the same rule by rows: so many rows of the parameter [rows, width] have a gradient.
inline OpCase rows_case(std::string name, int64_t rows, int64_t width, int64_t with_gradient,
                        const Optimizer& optimizer, const StateRanges& ranges = {},
                        double step = 3) {
  OpCase test = update_case(std::move(name), {rows, width}, optimizer, ranges, step);
  test.inputs[1].shape = {with_gradient, width};
  const TensorSpec numbers{.shape = {with_gradient},
                           .dtype = DType::i32,
                           .low = 0,
                           .high = static_cast<double>(rows - 1),
                           .distinct = true};
  test.inputs.insert(test.inputs.begin() + 2, numbers);
  return test;
}

// Cases of every rule by rows: few rows, all, none, short ones, and such that do not fit
// into one piece of work.
inline std::vector<OpCase> rows_cases(const Optimizer& optimizer, const StateRanges& ranges = {}) {
  return {rows_case("few", 9, 5, 3, optimizer, ranges),
          rows_case("all", 6, 4, 6, optimizer, ranges, 1),
          rows_case("none", 6, 4, 0, optimizer, ranges),
          rows_case("no_width", 6, 0, 2, optimizer, ranges),
          rows_case("of_one", 4000, 1, 3000, optimizer, ranges),
          rows_case("over_many_tasks", 900, 70, 300, optimizer, ranges),
          rows_case("long", 4, 5001, 3, optimizer, ranges)};
}

inline std::vector<RejectCase> rows_rejects(const Optimizer& optimizer) {
  OpCase width = rows_case("", 4, 3, 2, optimizer);
  width.inputs[1].shape = {2, 4};
  OpCase number = rows_case("", 4, 3, 2, optimizer);
  number.inputs[2].shape = {3};
  return {{"rows_of_another_width", width.inputs, width.attrs, "as long as the parameter's"},
          {"another_number_of_rows", number.inputs, number.attrs, "the number of each row"}};
}

// A case of the same rule for a part of the parameter: the slices of some indices along an axis.
inline OpCase part_case(std::string name, const Shape& shape, const ir::TrainedPart& part,
                        const Optimizer& optimizer, const StateRanges& ranges = {},
                        double step = 3) {
  OpCase test = update_case(std::move(name), ir::part_shape(shape, part), optimizer, ranges, step);
  test.attrs = optimizer.value().op->optimizer.part_attrs(test.attrs, part);
  test.inputs[0].shape = shape;
  test.expect[0] = shape;
  return test;
}

// Cases of every rule for a part: along each axis, all of it, and more than one piece of work.
inline std::vector<OpCase> part_cases(const Optimizer& optimizer, const StateRanges& ranges = {}) {
  return {part_case("channels", {3, 2, 5}, {2, {1, 4}}, optimizer, ranges),
          part_case("rows", {6, 3}, {0, {0, 2, 5}}, optimizer, ranges, 1),
          part_case("between", {2, 4, 3}, {1, {3}}, optimizer, ranges),
          part_case("all", {3, 2}, {1, {0, 1}}, optimizer, ranges),
          part_case("whole", {7}, {}, optimizer, ranges),
          part_case("skipped", {4, 4}, {1, {2}}, optimizer, ranges, 0),
          part_case("none", {0, 4}, {1, {2}}, optimizer, ranges),
          part_case("over_many_tasks", {900, 11}, {1, {0, 3, 4, 7, 10}}, optimizer, ranges)};
}

inline std::vector<RejectCase> part_rejects(const Optimizer& optimizer) {
  const OpCase falls = part_case("", {2, 4}, {1, {2, 1}}, optimizer);
  const OpCase beyond = part_case("", {2, 4}, {1, {1, 4}}, optimizer);
  OpCase axis = part_case("", {2, 4}, {1, {1}}, optimizer);
  axis.attrs = optimizer.value().op->optimizer.part_attrs(optimizer.value().settings, {2, {1}});
  OpCase gradient = part_case("", {2, 4}, {1, {1}}, optimizer);
  gradient.inputs[1].shape = {2, 4};
  return {{"falling_indices", falls.inputs, falls.attrs, "indices of the part must rise"},
          {"an_index_beyond_the_axis", beyond.inputs, beyond.attrs, "lie within its axis"},
          {"another_axis", axis.inputs, axis.attrs, "axis of the part is none of param"},
          {"a_whole_gradient", gradient.inputs, gradient.attrs, "gradient of the part's shape"}};
}

// What a case of a rule for whole numbers has besides.
struct IntegerSetting {
  DType dtype = DType::i8;     // or i32
  bool residual = false;       // what rounding leaves is kept
  std::vector<Shape> units{};  // their shape; empty: none
  StateRanges ranges{};
  double step = 3;
  ir::TrainedPart part{};
};

inline OpCase integer_case(std::string name, const Shape& shape, const Optimizer& optimizer,
                           const IntegerSetting& setting = {}) {
  OpCase test = update_case(std::move(name), ir::part_shape(shape, setting.part), optimizer,
                            setting.ranges, setting.step);
  test.attrs = optimizer.value().op->integers.update_attrs(test.attrs, 5, setting.part);
  test.inputs[0].shape = shape;
  test.expect[0] = shape;
  test.inputs[0].dtype = setting.dtype;
  // Biases stay within int8, so that both types have the same numbers.
  test.inputs[0].low = setting.dtype == DType::i8 ? -128.0 : -100.0;
  test.inputs[0].high = setting.dtype == DType::i8 ? 127.0 : 100.0;
  if (setting.dtype == DType::i8) test.inputs[0].quantization = {.scales = {0.1F}};
  test.inputs[1].low = -9.0;
  test.inputs[1].high = 9.0;
  TensorSpec first{.shape = {6}, .dtype = DType::u32, .low = 0.0, .high = 4294967295.0};
  if (setting.residual) {
    first = {.shape = ir::part_shape(shape, setting.part),
             .dtype = DType::i16,
             .low = -32768,
             .high = 32767,
             .state = true};
    test.expect.insert(test.expect.begin() + 1, first.shape);
  }
  test.inputs.insert(test.inputs.begin(), first);
  TensorSpec units{.low = 1.0, .high = 4.0, .absent = setting.units.empty()};
  if (!setting.units.empty()) units.shape = setting.units[0];
  test.inputs.insert(test.inputs.begin() + 5, units);
  return test;
}

// Cases of every rule for whole numbers: both types, with and without units, no elements, and more
// than one piece of work.
inline std::vector<OpCase> integer_cases(const Optimizer& optimizer, bool residual) {
  const auto of = [&](const char* name, const Shape& shape, IntegerSetting setting = {}) {
    setting.residual = residual;
    return integer_case(name, shape, optimizer, setting);
  };
  return {
      of("weights", {3, 7}),
      of("first_step", {11}, {.step = 1}),
      of("biases", {19}, {.dtype = DType::i32}),
      of("skipped", {9}, {.dtype = DType::i32, .step = 0}),
      of("one_unit", {3, 7}, {.units = {Shape()}}),
      of("units_of_channels", {5, 3, 7}, {.units = {Shape{5, 1, 1}}}),
      of("units_of_a_later_axis", {3, 700, 2}, {.units = {Shape{1, 700, 1}}}),
      of("units_of_biases", {2100}, {.dtype = DType::i32, .units = {Shape{2100}}}),
      of("many", {3001}),
      of("part", {5, 3, 4}, {.units = {Shape{5, 1, 1}}, .part = {2, {0, 3}}}),
      of("part_of_many", {40, 90},
         {.units = {Shape{13, 1}}, .part = {0, {1, 2, 5, 8, 13, 14, 15, 16, 20, 21, 25, 30, 39}}}),
      of("scalar", {}),
      of("empty", {0})};
}

inline std::vector<RejectCase> integer_rejects(const Optimizer& optimizer, bool residual) {
  const OpCase plain = integer_case("", {2}, optimizer, {.residual = residual});
  OpCase shape = plain;
  shape.inputs[2].shape = {3};
  OpCase real = plain;
  real.inputs[1] = {.shape = {2}, .state = true};
  const OpCase units =
      integer_case("", {2}, optimizer, {.residual = residual, .units = {Shape{3}}});
  const OpCase axes =
      integer_case("", {2, 3}, optimizer, {.residual = residual, .units = {Shape{2, 3}}});
  const OpCase rank =
      integer_case("", {2, 3}, optimizer, {.residual = residual, .units = {Shape{2}}});
  OpCase part = integer_case("", {4}, optimizer, {.residual = residual, .part = {0, {1, 2}}});
  part.inputs[2].shape = {4};
  const OpCase index =
      integer_case("", {4}, optimizer, {.residual = residual, .part = {0, {1, 4}}});
  std::vector<RejectCase> rejects{
      {"a_whole_gradient_of_a_part", part.inputs, part.attrs, "the parameter's shape"},
      {"an_index_beyond_the_axis", index.inputs, index.attrs, "lie within its axis"},
      {"gradient_of_another_shape", shape.inputs, shape.attrs, "the parameter's shape"},
      {"a_parameter_of_f32", real.inputs, real.attrs, "param must be"},
      {"more_units_than_channels", units.inputs, units.attrs, "expected one unit"},
      {"units_of_two_axes", axes.inputs, axes.attrs, "expected one unit"},
      {"units_of_another_rank", rank.inputs, rank.attrs, "expected one unit"}};
  if (residual) {
    OpCase first = plain;
    first.inputs[0].shape = {3};
    rejects.push_back({"residual_of_another_shape", first.inputs, first.attrs, "a residual of"});
  }
  return rejects;
}

// The last state of a case left out, which every rule must refuse.
inline RejectCase without_last_state(OpCase test, const char* error = "is missing") {
  test.inputs.pop_back();
  return {.name = "missing_state", .inputs = test.inputs, .attrs = test.attrs, .error = error};
}

}  // namespace thimble::test
