"""Measures LoRA beside a LLaMA of random bf16 weights: time of a step and peak of the process, thimble and PyTorch with PEFT.

usage: python bench/transformers/lora_llama.py THIMBLE FOLDER [--layers 34] [--steps 3] [--peft] [--budget BYTES] [--base bf16]

THIMBLE: the program, of a release build. FOLDER: for the model (1 GB at 34 layers: 0.5 billion parameters) and the results.
--peft: measures PyTorch, too, in a process of its own; needs torch, transformers and peft. Needs NumPy alone without it.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import time

import numpy as np

TOKENS, WIDTH, INNER, WORDS, HEADS = 256, 1024, 2816, 32000, 16
TARGETS = ("q_proj", "v_proj")


def shapes_of(layers: int) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (WORDS, WIDTH)}
    for i in range(layers):
        block = f"model.layers.{i}."
        shapes |= {f"{block}self_attn.{name}_proj.weight": (WIDTH, WIDTH) for name in "qkvo"}
        shapes |= {f"{block}mlp.{name}_proj.weight": (INNER, WIDTH) for name in ("gate", "up")}
        shapes[f"{block}mlp.down_proj.weight"] = (WIDTH, INNER)
        shapes |= {f"{block}{name}_layernorm.weight": (WIDTH,) for name in ("input", "post_attention")}
    return shapes | {"model.norm.weight": (WIDTH,), "lm_head.weight": (WORDS, WIDTH)}


def write_model(folder: pathlib.Path, layers: int) -> int:
    """Writes config.json and model.safetensors; returns the number of parameters."""
    config = dict(model_type="llama", architectures=["LlamaForCausalLM"], vocab_size=WORDS, hidden_size=WIDTH,
                  intermediate_size=INNER, num_hidden_layers=layers, num_attention_heads=HEADS,
                  num_key_value_heads=HEADS, max_position_embeddings=2048, rms_norm_eps=1e-5, rope_theta=10000.0,
                  hidden_act="silu", tie_word_embeddings=False, torch_dtype="bfloat16")
    (folder / "config.json").write_text(json.dumps(config))
    shapes, header, at = shapes_of(layers), {}, 0
    for name, shape in shapes.items():
        size = 2 * int(np.prod(shape))
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps({"__metadata__": {"format": "pt"}} | header).encode()
    text += b" " * (-len(text) % 8)
    random = np.random.default_rng(1)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, shape in shapes.items():
            values = np.ones(shape, np.float32)
            if len(shape) == 2:
                values = random.standard_normal(shape, np.float32) * np.float32(0.02)
            file.write((values.view(np.uint32) >> 16).astype(np.uint16).tobytes())
    return at // 2


def write_samples(folder: pathlib.Path, count: int) -> None:
    text = np.random.default_rng(2).integers(0, WORDS, (count, TOKENS + 1)).astype(np.int32)
    np.savez(folder / "samples.npz", input_ids=text[:, :-1], next=text[:, 1:])


def run_thimble(program: str, folder: pathlib.Path, base: str, budget: str) -> dict[str, object]:
    model = folder / f"{base}.safetensors"
    lora = f"rank=8,alpha=16,targets={','.join(TARGETS)}"
    subprocess.run([program, "import", folder, "--dim", f"tokens={TOKENS}", "--loss", "softmax_cross_entropy", "--label",
                    "next", "--base", base, "--lora", lora, "-o", model], check=True, stdout=subprocess.DEVNULL)
    train = [program, "train", model, "--data", folder / "samples.npz", "--batch", "1", "--epochs", "1", "--optimizer",
             "adamw:lr=1e-4", "--out", folder / "out", "--json"]
    if budget:
        train += ["--memory-budget", budget]
    done = subprocess.run(train, check=True, stdout=subprocess.PIPE, text=True)
    result = json.loads(done.stdout.splitlines()[-1])
    return {key: result[key] for key in ("train_loss", "ms_per_step_median", "planned_peak_bytes", "peak_rss_bytes")}


def run_peft(folder: pathlib.Path) -> dict[str, object]:
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    base = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)
    model = get_peft_model(base, LoraConfig(r=8, lora_alpha=16, target_modules=list(TARGETS)))
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4)
    samples = np.load(folder / "samples.npz")
    times, losses = [], []
    for ids, following in zip(samples["input_ids"], samples["next"]):
        start = time.perf_counter()
        logits = model(input_ids=torch.tensor(ids[None], dtype=torch.long), use_cache=False).logits
        loss = torch.nn.functional.cross_entropy(logits[0].float(), torch.tensor(following, dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        times.append(1000 * (time.perf_counter() - start))
        losses.append(loss.item())
    with pathlib.Path("/proc/self/status").open() as file:
        peak = next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM:"))
    return {"train_loss": float(np.mean(losses)), "ms_per_step_median": float(np.median(times)), "peak_rss_bytes": peak}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--layers", type=int, default=34)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--base", default="bf16")
    parser.add_argument("--budget", default="")
    parser.add_argument("--peft", action="store_true")
    parser.add_argument("--only-peft", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only_peft:
        print(json.dumps(run_peft(options.folder)))
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    count = write_model(options.folder, options.layers)
    write_samples(options.folder, options.steps)
    print(json.dumps({"parameters": count, "tokens": TOKENS}))
    print("thimble", json.dumps(run_thimble(options.program, options.folder, options.base, options.budget)), flush=True)
    if options.peft:
        done = subprocess.run([sys.executable, *sys.argv, "--only-peft"], check=True, stdout=subprocess.PIPE, text=True)
        print("peft", done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
