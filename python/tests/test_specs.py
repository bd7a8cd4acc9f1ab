"""How an op and the layer of its name become one function."""

from thimble._specs import arguments, is_layer, keeps_statistics


def named(*names):
    return [{"name": name, "doc": "", "optional": name != "x"} for name in names]


def flags(spec):
    return [(each["name"], each["weight"]) for each in arguments(spec)]


def test_an_op_alone_has_no_weights():
    spec = {"op": {"inputs": named("x", "weight")}}
    assert not is_layer(spec)
    assert flags(spec) == [("x", False), ("weight", False)]


def test_what_an_op_takes_and_its_layer_does_not_are_weights():
    spec = {
        "op": {"inputs": named("x", "weight", "bias")},
        "function": {"inputs": named("x", "h0"), "parameters": named("weight", "bias")},
    }
    assert is_layer(spec)
    assert flags(spec) == [("x", False), ("weight", True), ("bias", True), ("h0", False)]


def test_a_layer_without_op_knows_its_weights_by_their_names():
    spec = {
        "function": {
            "inputs": named("query", "key", "value", "mask"),
            "parameters": named("in_proj.weight", "out_proj.weight"),
        }
    }
    assert flags(spec) == [(n, False) for n in ("query", "key", "value", "mask")]
    dense = {
        "function": {
            "inputs": named("x", "weight", "bias"),
            "parameters": named("weight", "bias"),
        }
    }
    assert flags(dense) == [("x", False), ("weight", True), ("bias", True)]


def test_a_layer_with_a_state_keeps_statistics():
    def layer(*states):
        parameters = [{"name": "p", "doc": "a state", "state": state} for state in states]
        return {"function": {"inputs": [], "parameters": parameters}}

    assert keeps_statistics(layer(False, True))
    assert not keeps_statistics(layer(False, False))
