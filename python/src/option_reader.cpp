#include "option_reader.h"

#include <fmt/format.h>

namespace thimble::python {

nb::handle OptionReader::find(const char* name) {
  known_.insert(name);
  if (!given_.contains(name)) return {};
  const nb::handle given = given_[name];
  return given.is_none() ? nb::handle() : given;
}

void OptionReader::fail(const char* name, const char* expected, nb::handle got) const {
  throw Error(where_, fmt::format("{} must be {}, got {}", name, expected, nb::repr(got).c_str()));
}

int64_t OptionReader::integer(const char* name, const char* expected, nb::handle given) const {
  if (PyIndex_Check(given.ptr()) == 0 || PyBool_Check(given.ptr())) fail(name, expected, given);
  const nb::object whole = nb::steal(PyNumber_Index(given.ptr()));
  if (!whole.is_valid()) throw nb::python_error();
  const int64_t value = PyLong_AsLongLong(whole.ptr());
  if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return value;
}

std::vector<int64_t> OptionReader::integers(const char* name, const char* expected,
                                            nb::handle given) const {
  if (PyIndex_Check(given.ptr()) != 0) return {integer(name, expected, given)};
  if (PySequence_Check(given.ptr()) == 0 || nb::isinstance<nb::str>(given)) {
    fail(name, expected, given);
  }
  std::vector<int64_t> numbers;
  for (const nb::handle number : given) numbers.push_back(integer(name, expected, number));
  return numbers;
}

void OptionReader::field(const char* name, bool& value, const char*) {
  const nb::handle given = find(name);
  if (!given.is_valid()) return;
  const int truth = PyObject_IsTrue(given.ptr());
  if (truth < 0) throw nb::python_error();
  value = truth != 0;
}

void OptionReader::field(const char* name, int64_t& value, const char*) {
  const nb::handle given = find(name);
  if (given.is_valid()) value = integer(name, "a whole number", given);
}

void OptionReader::field(const char* name, double& value, const char*) {
  const nb::handle given = find(name);
  if (!given.is_valid()) return;
  const double number = PyFloat_AsDouble(given.ptr());
  if (number == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    fail(name, "a number", given);
  }
  value = number;
}

void OptionReader::field(const char* name, Pair& value, const char*) {
  const nb::handle given = find(name);
  if (!given.is_valid()) return;
  const char* const expected = "a whole number or a pair (h, w)";
  const std::vector<int64_t> n = integers(name, expected, given);
  if (n.size() != 1 && n.size() != 2) fail(name, expected, given);
  value = Pair(n.front(), n.back());
}

void OptionReader::field(const char* name, Padding& value, const char*) {
  const nb::handle given = find(name);
  if (!given.is_valid()) return;
  const char* const expected = "a whole number, (h, w), (top, bottom, left, right) or \"same\"";
  if (nb::isinstance<nb::str>(given)) {
    if (nb::cast<std::string>(given) != "same") fail(name, expected, given);
    value = Padding::same();
    return;
  }
  const std::vector<int64_t> n = integers(name, expected, given);
  if (n.size() == 1) {
    value = Padding(n[0]);
  } else if (n.size() == 2) {
    value = Padding(n[0], n[1]);
  } else if (n.size() == 4) {
    value = Padding(n[0], n[1], n[2], n[3]);
  } else {
    fail(name, expected, given);
  }
}

void OptionReader::field(const char* name, std::vector<int64_t>& value, const char*) {
  const nb::handle given = find(name);
  if (given.is_valid()) value = integers(name, "whole numbers", given);
}

void OptionReader::field(const char* name, Shape& value, const char*) {
  const nb::handle given = find(name);
  if (given.is_valid()) value = Shape(integers(name, "a shape", given));
}

void OptionReader::field(const char* name, DType& value, const char*) {
  const nb::handle given = find(name);
  if (given.is_valid()) value = dtype_from(given, where_);
}

void OptionReader::choice(const char* name, int& value, std::span<const char* const> names,
                          const char*) {
  const nb::handle given = find(name);
  if (!given.is_valid()) return;
  std::string list;
  for (size_t i = 0; i < names.size(); ++i) {
    if (nb::isinstance<nb::str>(given) && nb::cast<std::string>(given) == names[i]) {
      value = static_cast<int>(i);
      return;
    }
    list += fmt::format("{}\"{}\"", i == 0 ? "one of " : ", ", names[i]);
  }
  fail(name, list.c_str(), given);
}

void OptionReader::field(const char* name, std::string& value, const char*) {
  const nb::handle given = find(name);
  if (!given.is_valid()) return;
  if (!nb::isinstance<nb::str>(given)) fail(name, "a text", given);
  value = nb::cast<std::string>(given);
}

void OptionReader::field(const char* name, Initializer& value, const char*) {
  const nb::handle given = find(name);
  if (given.is_valid() && !nb::try_cast(given, value)) {
    fail(name, "an initializer of thimble.init", given);
  }
}

void OptionReader::field(const char* name, std::optional<Initializer>& value, const char* doc) {
  if (!find(name).is_valid()) return;
  Initializer init;
  field(name, init, doc);
  value = init;
}

void OptionReader::finish() const {
  for (const auto& [name, value] : given_) {
    const auto text = nb::cast<std::string>(name);
    if (!value.is_none() && !known_.contains(text)) {
      throw Error(where_, "there is no option " + text);
    }
  }
}

}  // namespace thimble::python
