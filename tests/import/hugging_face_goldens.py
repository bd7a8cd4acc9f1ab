"""Writes hugging_face_goldens.json: small models of the transformers library with the results that it computes.

usage: python tests/import/hugging_face_goldens.py     with torch and transformers (5.x) installed

Weights follow from the names of the tensors alone, so that the file holds none.
"""

from __future__ import annotations

import json
import pathlib
import tempfile

import numpy as np
import torch
import transformers
from safetensors.torch import load_file, save_file

OUT = pathlib.Path(__file__).with_suffix(".json")
BATCH, TOKENS = 2, 7

DECODER = dict(vocab_size=29, use_cache=False)
GPT2 = dict(DECODER, n_embd=12, n_head=3, n_layer=2, n_positions=16, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
LLAMA = dict(DECODER, hidden_size=16, intermediate_size=20, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=64)
BERT = dict(vocab_size=29, hidden_size=12, intermediate_size=20, num_hidden_layers=2, num_attention_heads=3,
            max_position_embeddings=16, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
VIT = dict(hidden_size=12, intermediate_size=20, num_hidden_layers=2, num_attention_heads=3, image_size=12,
           patch_size=4, num_channels=3, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
LLAMA3 = dict(rope_type="llama3", rope_theta=500.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=32)

CASES = {
    "gpt2": ("GPT2LMHeadModel", GPT2),
    "gpt2_trunk": ("GPT2Model", dict(GPT2, activation_function="relu", n_inner=14, layer_norm_epsilon=1e-3)),
    "gpt2_scaled_by_layers": ("GPT2LMHeadModel", dict(GPT2, scale_attn_by_inverse_layer_idx=True)),
    "llama": ("LlamaForCausalLM", LLAMA),
    "llama_tied": ("LlamaForCausalLM", dict(LLAMA, tie_word_embeddings=True, rms_norm_eps=1e-3, head_dim=6)),
    "llama_biases": ("LlamaForCausalLM", dict(LLAMA, attention_bias=True, mlp_bias=True, num_key_value_heads=4)),
    "llama_linear": ("LlamaForCausalLM",
                     dict(LLAMA, rope_parameters=dict(rope_type="linear", rope_theta=100.0, factor=3.0))),
    "llama3": ("LlamaForCausalLM", dict(LLAMA, rope_parameters=LLAMA3, num_key_value_heads=1)),
    "llama_trunk": ("LlamaModel", LLAMA),
    "mistral": ("MistralForCausalLM", dict(LLAMA, sliding_window=8)),
    "qwen2": ("Qwen2ForCausalLM", LLAMA),
    "qwen3": ("Qwen3ForCausalLM", dict(LLAMA, head_dim=8)),
    "bert": ("BertModel", dict(BERT, layer_norm_eps=1e-3)),
    "bert_masked": ("BertForMaskedLM", dict(BERT, hidden_act="gelu_new")),
    "bert_classes": ("BertForSequenceClassification", dict(BERT, num_labels=3)),
    "bert_tokens": ("BertForTokenClassification", dict(BERT, num_labels=4, type_vocab_size=3)),
    "vit": ("ViTModel", VIT),
    "vit_classes": ("ViTForImageClassification", dict(VIT, num_labels=5, qkv_bias=False)),
}


def numbers(name: str, count: int) -> np.ndarray:
    """Numbers from -0.3 to 0.3 that the name says; the test has the same function."""
    state = np.uint64(sum((i + 1) * ord(c) for i, c in enumerate(name)))
    h = (np.arange(1, count + 1, dtype=np.uint64) * np.uint64(2654435761) + state * np.uint64(40503)) % np.uint64(2**32)
    h = (h * np.uint64(2246822519)) % np.uint64(2**32)
    return ((h >> np.uint64(8)).astype(np.float64) / 2**24 * 0.6 - 0.3).astype(np.float32)


def inputs_of(model: torch.nn.Module, images: bool) -> dict[str, torch.Tensor]:
    if images:
        c = model.config
        x = numbers("pixel_values", BATCH * c.image_size**2 * c.num_channels)
        x = x.reshape(BATCH, c.image_size, c.image_size, c.num_channels)
        return {"pixel_values": torch.from_numpy(x).permute(0, 3, 1, 2)}
    ids = (numbers("input_ids", BATCH * TOKENS) * 1000).astype(np.int64) % 29
    given = {"input_ids": torch.from_numpy(ids.reshape(BATCH, TOKENS))}
    if model.config.model_type == "bert":
        mask = torch.ones(BATCH, TOKENS, dtype=torch.long)
        mask[1, 5:] = 0
        types = torch.zeros(BATCH, TOKENS, dtype=torch.long)
        types[:, 4:] = 1
        given |= {"attention_mask": mask, "token_type_ids": types}
    return given


def case_of(name: str, architecture: str, settings: dict) -> dict:
    cls = getattr(transformers, architecture)
    with tempfile.TemporaryDirectory() as folder:
        # The names in the file, which those in memory need not be.
        cls(cls.config_class(**settings)).save_pretrained(folder)
        path = pathlib.Path(folder) / "model.safetensors"
        tensors = {key: list(value.shape) for key, value in load_file(path).items()}
        values = {key: numbers(key, int(np.prod(shape))).reshape(shape) for key, shape in tensors.items()}
        save_file({key: torch.from_numpy(value) for key, value in values.items()}, path, {"format": "pt"})
        config = json.loads((pathlib.Path(folder) / "config.json").read_text())
        model = cls.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.no_grad():
        given = inputs_of(model, architecture.startswith("ViT"))
        made = model(**given)
    outputs = {key: [round(float(v), 6) for v in made[key].flatten()]
               for key in ("logits", "last_hidden_state", "pooler_output") if made.get(key) is not None}
    return dict(name=name, config=config, tensors=tensors,
                inputs={k: v.permute(0, 2, 3, 1).shape[1:] if k == "pixel_values" else v.flatten().tolist()
                        for k, v in given.items()},
                outputs=outputs)


def main() -> None:
    cases = [case_of(name, *case) for name, case in CASES.items()]
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    OUT.write_text(f'{{"transformers":"{transformers.__version__}","torch":"{torch.__version__}","cases":[\n{lines}\n]}}\n')
    print(OUT, OUT.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
