"""What PyTorch has and thimble has not, and the reverse: by kind and reason."""

# Entries of PyTorch's databases without a counterpart.
NOT_OFFERED: dict[str, dict[str, list[str]]] = {}

# Functions and optimizers of thimble that PyTorch's databases have no entry for.
NO_COUNTERPART: dict[str, list[str]] = {}
