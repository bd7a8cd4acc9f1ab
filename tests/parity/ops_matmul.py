"""Products of vectors and matrices."""
import thimble as tb
from registry import op


@op(["matmul", "mm", "bmm", "mv", "dot", "vdot"], "matmul Value.__matmul__", times=4)
def matmul(a, b):
    return a @ b


@op("__rmatmul__", "matmul Value.__rmatmul__", times=4)
def rmatmul(a, b):
    return b @ a


@op(["addmm", "addmm/decomposed", "addmv", "baddbmm"], "matmul add affine", times=4)
def addmm(x, a, b, beta=1, alpha=1):
    return beta * x + alpha * (a @ b)


@op("addbmm", "matmul sum add affine", times=10)
def addbmm(x, a, b, beta=1, alpha=1):
    return beta * x + alpha * tb.sum(a @ b, axes=(0,))


@op("addr", "einsum add affine")
def addr(x, a, b, beta=1, alpha=1):
    product = alpha * tb.einsum(a, b, equation="i,j->ij")
    return product if beta == 0 else beta * x + product  # PyTorch does not read x then, not even NaN


@op("outer", "einsum")
def outer(a, b):
    return tb.einsum(a, b, equation="i,j->ij")


@op("einsum", "einsum")
def einsum(operands, equation):
    return tb.einsum(*operands, equation=equation)


@op("inner", "matmul mul", times=4)
def inner(a, b):
    return a * b if a.ndim == 0 or b.ndim == 0 else tb.matmul(a, tb.transpose(b) if b.ndim > 1 else b)


@op("tensordot", "einsum", times=4)
def tensordot(a, b, dims=2):
    letters = "abcdefghijklmnopqrstuvwxyz"
    if isinstance(dims, int):
        dims = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    first, second = list(letters[: a.ndim]), list(letters[a.ndim : a.ndim + b.ndim])
    for i, j in zip(*dims):
        second[j] = first[i]
    kept = [x for i, x in enumerate(first) if i not in dims[0]]
    kept += [x for j, x in enumerate(second) if j not in dims[1]]
    return tb.einsum(a, b, equation=f"{''.join(first)},{''.join(second)}->{''.join(kept)}")


@op("linalg.vecdot", "mul sum", times=4)
def vecdot(a, b, dim=-1):
    return tb.sum(a * b, axes=(dim,))


@op("linalg.multi_dot", "matmul", times=10)
def multi_dot(matrices):
    result = matrices[0]
    for matrix in matrices[1:]:
        result = result @ matrix
    return result


@op("nn.functional.linear", "dense", times=4)
def linear(x, weight, bias=None):
    return tb.dense(x, weight, bias)
