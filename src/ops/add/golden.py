def case(name, a, b):
    return dict(name=name, attrs={}, inputs=[{"shape": a}, {"shape": b}],
                torch=lambda x, y: x + y)


CASES = [case("same", [2, 3], [2, 3]), case("scalar", [2, 3], []), case("scalar_first", [], [2, 3]),
         case("row", [2, 2, 3], [3]), case("column", [2, 1], [2, 3]), case("middle", [2, 1, 3], [2, 1]),
         case("outer", [3, 1], [1, 2])]
