// Registers and runs the tests of all ops' tables: <op>.<case>_<check>. With --bits it prints
// hashes of the results instead.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "harness/op_bits.h"
#include "harness/op_checks.h"
#include "harness/op_every_type.h"
#include "harness/op_goldens.h"
#include "harness/op_parts.h"
#include "harness/op_types.h"
#include "ir/function_def.h"

namespace thimble::test {
namespace {

class CheckTest : public testing::Test {
 public:
  explicit CheckTest(std::function<std::string()> check) : check_(std::move(check)) {}
  void TestBody() override {
    try {
      const std::string error = check_();
      if (!error.empty()) ADD_FAILURE() << error;
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }

 private:
  std::function<std::string()> check_;
};

void add_test(const std::string& suite, const std::string& name,
              const std::function<std::string()>& check) {
  testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                        [check]() -> testing::Test* { return new CheckTest(check); });
}

// Whether the case runs an op that can compute parts of its output's rows.
bool has_parts(const ir::OpDef& op, const OpCase& test) {
  for (const std::string& name : ops_of_case(op, test)) {
    const ir::OpDef* const used = ir::find_op(name);
    if (used != nullptr && used->memory.part.rows != nullptr) return true;
  }
  return false;
}

void add_tests(const std::string& name, const OpCases& table) {
  const ir::OpDef* op = ir::find_op(name);
  if (op == nullptr) {
    add_test(name, "exists", [] { return "no such op in the library"; });
    return;
  }
  for (const OpCase& test : table.cases) {
    using Check = std::string (*)(const ir::OpDef&, const OpCase&);
    const std::pair<const char*, Check> checks[] = {{"shapes", check_shapes},
                                                    {"reference", check_reference},
                                                    {"fast", check_fast},
                                                    {"in_place", check_in_place},
                                                    {"gradient", check_gradient},
                                                    {"attributes", check_attributes},
                                                    {"samples", check_samples},
                                                    {"types", check_types},
                                                    {"every_type", check_every_type}};
    for (const auto& [what, check] : checks) {
      if (std::string_view(what) == "gradient" && op->gradient.vjp == nullptr) continue;
      add_test(name, test.name + "_" + what,
               [op, test, check = check] { return check(*op, test); });
    }
  }
  for (const OpCase& test : table.cases) {
    if (has_parts(*op, test)) {
      add_test(name, test.name + "_parts", [op, test] { return check_parts(*op, test); });
    }
    if (op->optimizer.elementwise) {
      add_test(name, test.name + "_halves", [op, test] { return check_halves(*op, test); });
    }
  }
  for (const RejectCase& test : table.rejects) {
    add_test(name, "rejects_" + test.name, [op, test] { return check_rejects(*op, test); });
  }
}

void add_golden_tests() {
  try {
    for (const nlohmann::json& golden : find_goldens(THIMBLE_SOURCE_DIR)) {
      add_test(golden.at("op"), "golden_" + golden.at("name").get<std::string>(),
               [golden] { return check_golden(golden); });
    }
  } catch (const std::exception& error) {
    std::string what = error.what();
    add_test("all_ops", "have_their_goldens", [what] { return what; });
  }
}

// Every op of the library must be run by some table: as itself or as a part of a gradient.
std::string untested_ops() {
  std::set<std::string> seen;
  for (const auto& [name, cases] : op_tables()) {
    const ir::OpDef* op = ir::find_op(name);
    if (op == nullptr) continue;
    for (const OpCase& test : cases().cases) {
      for (const std::string& used : ops_of_case(*op, test)) seen.insert(used);
    }
  }
  std::string missing;
  for (const ir::OpDef* op : ir::all_ops()) {
    if (seen.count(op->name) == 0) missing += std::string(missing.empty() ? "" : ", ") + op->name;
  }
  return missing.empty() ? "" : "no test runs " + missing;
}

// Every op that can compute rows of its output alone has a case of several parts.
std::string untested_parts() {
  std::set<std::string> seen;
  for (const auto& [name, cases] : op_tables()) {
    const ir::OpDef* op = ir::find_op(name);
    if (op == nullptr) continue;
    for (const OpCase& test : cases().cases) {
      for (const std::string& used : ops_of_several_parts(*op, test)) seen.insert(used);
    }
  }
  for (const ir::OpDef* op : ir::all_ops()) {
    if (op->memory.part.rows != nullptr && seen.count(op->name) == 0) {
      return std::string("no test computes several parts of ") + op->name;
    }
  }
  return "";
}

// Every set of typed kernels is run by some case.
std::string untested_types() {
  for (const ir::OpDef* op : ir::all_ops()) {
    std::set<std::string> seen;
    const auto table = op_tables().find(op->name);
    if (table == op_tables().end()) continue;  // ops that only gradients run have one type
    for (const OpCase& test : table->second().cases) {
      for (const TypedCase& typed : typed_cases(*op, test, true)) seen.insert(typed.types);
    }
    if (seen.size() < op->kernels.typed.size()) {
      return std::string("no case runs all of the typed kernels of ") + op->name;
    }
  }
  return "";
}

// Every op takes the types that it declares for its inputs, in some case.
std::string untaken_types() {
  DeclaredTypes declared;
  for (const auto& [name, cases] : op_tables()) {
    const ir::OpDef* op = ir::find_op(name);
    if (op == nullptr) continue;
    for (const OpCase& test : cases().cases) declared.add(*op, test);
  }
  std::string untaken;
  for (const ir::OpDef* op : ir::all_ops()) {
    const std::string own = declared.untaken(*op);
    if (!own.empty()) untaken += own + "\n";
  }
  return untaken;
}

// The ops that say that gradient rules build them are those that gradients of other ops run, or
// parts of such gradients.
std::string untrue_gradients() {
  std::set<std::string> built;
  for (const auto& [name, cases] : op_tables()) {
    const ir::OpDef* op = ir::find_op(name);
    if (op == nullptr || op->is_gradient) continue;
    for (const OpCase& test : cases().cases) {
      for (const std::string& used : ops_of_case(*op, test)) {
        if (used != name) built.insert(used);
      }
    }
  }
  for (const ir::OpDef* op : ir::all_ops()) {  // in their place, a gradient of bit masks
    if (op->memory.mask == nullptr) continue;
    const ir::MaskRule rule = op->memory.mask(ir::Attrs::defaults(op->signature.attrs));
    if (rule.read != nullptr) built.insert(rule.read->name);
  }
  for (const ir::OpDef* op : ir::all_ops()) {
    if (!op->is_gradient) continue;
    if (ir::is_for_users(*op)) return std::string(op->name) + " is a gradient, but for users";
    if (!built.contains(op->name)) return std::string("no gradient runs ") + op->name;
  }
  return "";
}

}  // namespace

}  // namespace thimble::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc == 2 && std::string_view(argv[1]) == "--bits") {
    thimble::test::print_bits(stdout);
    return 0;
  }
  for (const auto& [name, cases] : thimble::test::op_tables()) {
    thimble::test::add_tests(name, cases());
  }
  thimble::test::add_golden_tests();
  thimble::test::add_test("all_ops", "are_tested", thimble::test::untested_ops);
  thimble::test::add_test("all_ops", "are_tested_in_parts", thimble::test::untested_parts);
  thimble::test::add_test("all_ops", "are_tested_in_all_types", thimble::test::untested_types);
  thimble::test::add_test("all_ops", "take_the_types_that_they_declare",
                          thimble::test::untaken_types);
  thimble::test::add_test("all_ops", "are_gradients_where_they_say_so",
                          thimble::test::untrue_gradients);
  return RUN_ALL_TESTS();
}
