#include <nlohmann/json.hpp>

#include "harness/op_cases.h"
#include "io/json/attrs.h"
#include "ops/families/unary/unary_cases.h"

namespace thimble::test {
namespace {

using Tables = std::map<std::string, OpCasesFn>;

// Filled before main: the tables of the ops' test.cpp add themselves.
Tables& tables() {
  static Tables all;
  return all;
}

OpCases cases_of(const ir::OpDef& op) {
  const ir::TestCase defaults{.name = "", .domain = op.signature.domain};
  std::span<const ir::TestCase> tests = op.signature.cases;
  if (tests.empty()) tests = {&defaults, 1};
  OpCases all{.rejects = unary_rejects()};
  for (const ir::TestCase& test : tests) {
    const ir::Attrs attrs = attrs_of(op.name, test.attrs);
    const ir::Domain& domain = test.domain;
    if (*test.refused != '\0') {
      all.rejects.push_back({test.name, {{.shape = {2}}}, attrs, test.refused});
    } else if (domain.low < domain.high) {
      const std::string suffix = *test.name == '\0' ? "" : std::string("_") + test.name;
      all.cases =
          std::move(all.cases) +
          unary_cases({.low = domain.low, .high = domain.high, .gap = domain.gap}, attrs, suffix);
    }
  }
  return all;
}

Tables with_derived(Tables all) {
  for (const ir::OpDef* const op : ir::all_ops()) {
    const ir::Signature& says = op->signature;
    if (says.domain.low >= says.domain.high && says.cases.empty()) continue;
    all.emplace(op->name, [op] { return cases_of(*op); });
  }
  return all;
}

}  // namespace

ir::Attrs attrs_of(const char* op, const std::string& json) {
  return io::attrs_from_json(ir::find_op(op)->signature.attrs, nlohmann::json::parse(json), op);
}

bool add_op_cases(const char* op, const OpCasesFn& cases) {
  return tables().emplace(op, cases).second;
}

const Tables& op_tables() {
  static const Tables all = with_derived(tables());
  return all;
}

}  // namespace thimble::test
