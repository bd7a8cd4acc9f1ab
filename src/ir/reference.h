// Runs a graph node by node with the reference kernels, each value in its own memory: the oracle
// for the planned, fused and vectorised program.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::ir {

// In double precision every f32 value is stored and computed as double.
enum class Precision : uint8_t { f32, f64 };

// A value's elements as they lie in memory.
using Bytes = std::vector<std::byte>;

// Computes every value of the graph. sources: the contents of all sources except constants, by
// value number, in the given precision. The result holds all values. Updates appear in their
// outputs; inputs keep their contents. Throws Error if an op has no kernel for the precision.
std::vector<Bytes> run_reference(const Graph& graph, std::map<int, Bytes> sources,
                                 Precision precision);

// Runs one node on given inputs (null: left out) and returns the contents of its outputs.
std::vector<Bytes> run_reference_node(const Graph& graph, const Node& node,
                                      const std::vector<const Bytes*>& inputs, Precision precision);

// A constant's elements in a precision's form.
[[nodiscard]] Bytes to_bytes(const Array& values, Precision precision);
// f32 elements in a precision's form, and back.
[[nodiscard]] Bytes to_bytes(const std::vector<float>& values, Precision precision);
[[nodiscard]] Bytes to_bytes(const std::vector<double>& values, Precision precision);
[[nodiscard]] std::vector<double> to_doubles(const Bytes& bytes, Precision precision);

// Bytes of a value of this type in a precision.
[[nodiscard]] size_t byte_size(const TensorType& type, Precision precision);

}  // namespace thimble::ir
