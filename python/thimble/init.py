"""Rules for the initial values of parameters: layers take them as weight_init and bias_init.

For a weight of shape [out, ..., in], fan_in is the product of all dimensions but the first and
fan_out the product of all but the last."""

from ._core import Initializer

constant = Initializer.constant
zeros = Initializer.zeros
ones = Initializer.ones
uniform = Initializer.uniform
normal = Initializer.normal
lecun_uniform = Initializer.lecun_uniform
lecun_normal = Initializer.lecun_normal
xavier_uniform = Initializer.xavier_uniform
xavier_normal = Initializer.xavier_normal
he_uniform = Initializer.he_uniform
he_normal = Initializer.he_normal
torch_default = Initializer.torch_default
orthogonal = Initializer.orthogonal
