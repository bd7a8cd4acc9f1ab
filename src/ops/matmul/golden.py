import torch


def case(name, a, b, torch_result, bias=None, **attrs):
    inputs = [{"shape": a, "low": -1, "high": 1}, {"shape": b, "low": -1, "high": 1}]
    if bias:
        inputs.append({"shape": bias, "low": -1, "high": 1})
    return dict(name=name, attrs=attrs, inputs=inputs, torch=torch_result)


CASES = [
    case("plain", [2, 3], [3, 4], torch.matmul),
    case("transpose_a", [3, 2], [3, 4], lambda a, b: a.T @ b, transpose_a=True),
    case("transpose_both", [3, 2], [4, 3], lambda a, b: a.T @ b.T, transpose_a=True,
         transpose_b=True),
    case("dense", [3, 5], [4, 5], torch.nn.functional.linear, bias=[4], transpose_b=True),
    case("dense_of_a_sequence", [2, 3, 4], [3, 4], torch.nn.functional.linear, bias=[3],
         transpose_b=True),
    case("dense_relu", [3, 5], [4, 5],
         lambda x, w, b: torch.relu(torch.nn.functional.linear(x, w, b)), bias=[4],
         transpose_b=True, activation="relu"),
    case("batch", [2, 2, 3], [2, 3, 2], torch.matmul),
    case("vectors", [3], [3], torch.matmul),
    case("row", [3], [3, 2], torch.matmul),
    case("column", [2, 3], [3], torch.matmul),
    case("rows_of_a_batch", [3], [2, 3, 2], torch.matmul),
    case("columns_of_a_batch", [2, 2, 3], [3], torch.matmul),
    case("dense_of_a_vector", [5], [4, 5], torch.nn.functional.linear, bias=[4], transpose_b=True),
    case("broadcast_batches", [2, 1, 2, 3], [3, 3, 2], torch.matmul),
    case("sums_of_nothing", [2, 0], [0, 3], torch.matmul),
    case("one_a_for_all", [2, 3], [2, 3, 2], torch.matmul),
]

EXAMPLES = {"matmul": {"a": (32, 32), "b": (32, 32)}}
