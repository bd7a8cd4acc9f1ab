import torch


def case(name, x, shifts, axes):
    return dict(name=name, attrs=dict(shifts=shifts, axes=axes), inputs=[x],
                torch=lambda x: torch.roll(x, shifts, axes))


CASES = [
    case("last", {"shape": [2, 5]}, [2], [-1]),
    case("first_down", {"shape": [4, 3]}, [-1], [0]),
    case("two_axes", {"shape": [2, 3, 4]}, [1, 5], [0, 2]),
    case("one_axis_twice", {"shape": [7]}, [2, 3], [0, 0]),
    case("flat", {"shape": [2, 3]}, [4], []),
    case("integers", {"values": [[1, 2, 3], [4, 5, 6]], "dtype": "i32"}, [1], [1]),
    case("far", {"shape": [3, 2]}, [-100], [0]),
    case("nothing", {"shape": [0, 3]}, [1], [0]),
]
