// The checks of one op on one case. Each returns what is wrong, or an empty string, so that the
// harness's own tests can see that wrong ops are caught.
#pragma once

#include <string>
#include <vector>

#include "harness/op_cases.h"
#include "ir/reference.h"

namespace thimble::test {

// The types are what the case expects, and the kernels write all of them and nothing beyond.
std::string check_shapes(const ir::OpDef& op, const OpCase& test);

// The float32 reference kernel agrees with the double-precision one.
std::string check_reference(const ir::OpDef& op, const OpCase& test);

// For the op and every op of its gradient: each compiled vector target's fast kernel agrees with
// the reference, gives the same bits on 1, 2 and 4 threads, and stays inside its buffers.
std::string check_fast(const ir::OpDef& op, const OpCase& test);

// Where an op declares that an output may share an input's buffer, sharing changes no bit.
std::string check_in_place(const ir::OpDef& op, const OpCase& test);

// The gradient agrees with central differences along random directions in double precision.
// Source: Griewank and Walther, "Evaluating Derivatives", 2008.
std::string check_gradient(const ir::OpDef& op, const OpCase& test);

// If the op declares that samples are independent, or that it computes their mean, then parts of
// the batch satisfy this in double precision, whichever inputs hold the samples.
std::string check_samples(const ir::OpDef& op, const OpCase& test);

// The attributes are the same after being written as JSON and read again.
std::string check_attributes(const ir::OpDef& op, const OpCase& test);

// The rule refuses the inputs with the message expected.
std::string check_rejects(const ir::OpDef& op, const RejectCase& test);

// The outputs of a node's fast kernel on one thread. values: the contents of all of the graph.
std::vector<ir::Bytes> run_fast(const ir::Graph& graph, const ir::Node& node,
                                const std::vector<ir::Bytes>& values);

// Names of the ops that the case and its gradient run.
std::vector<std::string> ops_of_case(const ir::OpDef& op, const OpCase& test);

}  // namespace thimble::test
