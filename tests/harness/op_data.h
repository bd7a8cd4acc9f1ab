// Graphs and random contents made from a case.
#pragma once

#include <map>
#include <vector>

#include "autodiff/autodiff.h"
#include "harness/op_cases.h"
#include "ir/reference.h"

namespace thimble::test {

// The op on sources of the case's types; with_gradient appends cotangents and the gradient of
// sum(output * cotangent) by every f32 input.
struct CaseGraph {
  ir::Graph graph;
  std::vector<int> inputs;  // sources; -1: left out
  std::vector<int> outputs;
  std::map<int, int> cotangents;  // output -> source
  std::vector<autodiff::Gradient> gradients;
};

CaseGraph make_graph(const ir::OpDef& op, const OpCase& test, bool with_gradient);

// Random contents of every source, as doubles for f32 and in memory form for others.
struct CaseData {
  std::map<int, std::vector<double>> numbers;
  std::map<int, ir::Bytes> raw;
  [[nodiscard]] std::map<int, ir::Bytes> bytes(ir::Precision precision) const;
};

CaseData make_data(const CaseGraph& graph, const OpCase& test, uint32_t seed);

// Numbers in memory form of a type, by the rules of cast, and back as doubles.
ir::Bytes bytes_of(const std::vector<double>& numbers, DType dtype);
std::vector<double> numbers_of(const ir::Bytes& bytes, const ir::TensorType& type);

// Largest |a - b| divided by the largest magnitude in b (at least 1e-3), infinite for NaN in one
// only or different lengths.
double relative_difference(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace thimble::test
