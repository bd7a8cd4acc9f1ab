// The check of an op's nodes with every element type in the place of their own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/op_cases.h"

namespace thimble::test {

// For every node of the case and of its gradient: each type in the place of all its f32 inputs, and
// in the place of each input alone, is either refused with an Error that names the op and the types
// it got, or computed: the reference kernel gives what the usual types give for the same numbers,
// bit for bit (integers wrapped, f16 and bf16 rounded once), and the fast kernel agrees.
std::string check_every_type(const ir::OpDef& op, const OpCase& test);

// Whether ops take all types that they declare for their inputs (ir::taken_types). That they take
// no others is checked where a node is added to a graph.
class DeclaredTypes {
 public:
  // Tries the types that the ops of the case and of its gradient declare, each for one input with
  // the others as they are, or for all inputs that must be alike.
  void add(const ir::OpDef& op, const OpCase& test);
  // The first type that the op declares for an input and no case takes; else empty.
  [[nodiscard]] std::string untaken(const ir::OpDef& op) const;

 private:
  void add_node(const ir::Graph& graph, const ir::Node& node);

  std::map<const ir::OpDef*, std::vector<ir::TypeSet>> taken_;  // of each input that a case gives
};

}  // namespace thimble::test
