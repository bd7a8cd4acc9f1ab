"""Thimble trains neural networks on the device that holds the data, inside a memory budget.

    import thimble as tb

    g = tb.Graph()
    image, digit = g.input("image", (28, 28, 1)), g.label("digit")
    h = tb.relu(tb.conv2d(image, channels=8, kernel=3, stride=2, padding=1))
    logits = tb.dense(tb.flatten(h), units=10)
    g.minimize(tb.softmax_cross_entropy(logits, digit))
    trainer = tb.Trainer(g, optimizer=tb.AdamW(lr=3e-3), memory_budget="2 MiB")
    trainer.fit(tb.data.digits(4000), epochs=3)

Ops are functions: on Values of a graph they add to it, on arrays they compute at once.
"""

import builtins as _builtins

from . import data, init, metrics, ops, optimizers, recipes
from ._compiled import seed
from ._core import (
    Dataset,
    EpochReport,
    Evaluation,
    FitResult,
    Graph,
    Initializer,
    Quantization,
    Schedule,
    StepReport,
    Tokenizer,
    Value,
    set_num_threads,
)
from ._core import version as __version__
from ._optimizer import GradientClip, Objective, Optimizer, OptimizerState, ParamGroup
from ._quantize import (
    FloatLayer,
    QatModel,
    QuantizedLayer,
    QuantizedModel,
    prepare_qat,
    quantize_model,
)
from .callbacks import Callback
from .files import load_safetensors, safetensors_metadata, save_safetensors
from .lbfgs import LBFGS
from .lora import add_lora, load_lora, merge_lora, save_lora, store_weights
from .model_files import (
    adapt,
    apply_onnx,
    export_onnx,
    export_tflite,
    import_hugging_face,
    import_model,
    import_onnx,
    import_quantized_json,
    import_tflite,
    load_model,
    save_model,
)
from .ops import *  # noqa: F403
from .optimizers import *  # noqa: F403
from .plan import Plan
from .predictor import Predictor
from .programs import compile_program, load_program
from .pytorch import from_torch, to_torch
from .scheme_search import (
    AnalyzeProgress,
    BiasGain,
    Contributions,
    FoundScheme,
    WeightGain,
    analyze,
    predict_instructions,
    search_scheme,
    verify_scheme,
)
from .sparse import choose_channels
from .tokens import load_tokenizer, token_samples
from .trainer import Gradients, Trainer, plan_training
from .transforms import functional_call, jit, time_distributed, value_and_grad

__all__ = [
    "AnalyzeProgress",
    "BiasGain",
    "Callback",
    "Contributions",
    "Dataset",
    "EpochReport",
    "Evaluation",
    "FitResult",
    "FloatLayer",
    "FoundScheme",
    "GradientClip",
    "Gradients",
    "Graph",
    "Initializer",
    "LBFGS",
    "Objective",
    "Optimizer",
    "OptimizerState",
    "ParamGroup",
    "Plan",
    "Predictor",
    "QatModel",
    "Quantization",
    "QuantizedLayer",
    "QuantizedModel",
    "Schedule",
    "StepReport",
    "Tokenizer",
    "Trainer",
    "Value",
    "WeightGain",
    "__version__",
    "adapt",
    "add_lora",
    "analyze",
    "apply_onnx",
    "choose_channels",
    "compile_program",
    "data",
    "export_onnx",
    "export_tflite",
    "from_torch",
    "functional_call",
    "import_hugging_face",
    "import_model",
    "import_onnx",
    "import_quantized_json",
    "import_tflite",
    "init",
    "jit",
    "load_lora",
    "load_model",
    "load_program",
    "load_safetensors",
    "load_tokenizer",
    "merge_lora",
    "metrics",
    "ops",
    "optimizers",
    "plan_training",
    "predict_instructions",
    "prepare_qat",
    "quantize_model",
    "recipes",
    "safetensors_metadata",
    "save_lora",
    "save_model",
    "save_safetensors",
    "search_scheme",
    "seed",
    "set_num_threads",
    "store_weights",
    "time_distributed",
    "token_samples",
    "to_torch",
    "value_and_grad",
    "verify_scheme",
    # "from thimble import *" leaves Python's own abs, max, sum ... alone.
    *(name for name in ops.__all__ if name not in dir(_builtins)),
    *optimizers.__all__,
]
