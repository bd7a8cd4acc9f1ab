#pragma once

#include <thimble/graph.h>

#include <string>
#include <vector>

namespace thimble {

// Sums of products by the names of axes: einsum("btd,de->bte", {x, weight}) multiplies every step
// by a matrix; "ij->ji" transposes, "ij->i" sums rows, "i,j->ij" is the outer product,
// "bij,bjk->bik" a product of many matrices. A letter is an axis, twice in an operand its diagonal;
// "..." stands for axes that all operands with it share; without "->" the result has the axes of
// "..." and then those that occur once, sorted. operands: at least one, f32; a letter has one size
// in all of them, or 1 where one element serves all. Built from transpose, reshape, slice, matmul,
// mul and sum: operands are multiplied from the left to the right, where an axis is summed as soon
// as no other operand has it. Equal to torch.einsum. Errors: Error naming what in the equation does
// not fit.
Value einsum(const std::string& equation, const std::vector<Value>& operands);

}  // namespace thimble
