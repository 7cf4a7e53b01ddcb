"""Keep the weights of a checkpoint in an eighth of its size, and turn them back into weights to start from.

Matrices are rounded to 8 bits with a scale for each row; the word embeddings, which are not trained, are taken from
the base again. Of a teacher only what is trained is kept, in half precision; `train.py --teacher` starts from it as it
is. The state of the optimizer is not kept: a run that starts from a milestone warms up again.
"""

import argparse
from pathlib import Path

import onnx
import torch
from onnx import numpy_helper
from safetensors.torch import load_file, save_file
from torch import Tensor

from model import State, read_state
from teacher import list_kept

WORDS = "embeddings.word_embeddings.weight"
SCALE = ".scale"


def pack(state: State) -> dict[str, Tensor]:
    """
    >>> packed = pack({"a.weight": torch.tensor([[0.5, -1.0], [0.0, 0.0]]), WORDS: torch.ones(2, 2)})
    >>> packed["a.weight"].tolist(), sorted(packed)
    ([[64, -127], [0, 0]], ['a.weight', 'a.weight.scale'])
    """
    packed: dict[str, Tensor] = {}
    for name, value in state.items():
        if name == WORDS:
            continue
        if value.dim() < 2:
            packed[name] = value.float()
            continue
        scale = (value.abs().amax(dim=1, keepdim=True) / 127).clamp(min=1e-12)
        packed[name] = (value / scale).round().to(torch.int8)
        packed[name + SCALE] = scale.float()
    return packed


def unpack(packed: State, words: Tensor) -> dict[str, Tensor]:
    """
    >>> state = unpack(pack({"a.weight": torch.tensor([[0.5, -1.0]])}), torch.ones(2, 2))
    >>> [round(value, 2) for value in state["a.weight"][0].tolist()]
    [0.5, -1.0]
    """
    names = [name for name in packed if not name.endswith(SCALE)]
    whole = {name: packed[name].float() * packed.get(name + SCALE, torch.ones(1)) for name in names}
    return {**whole, WORDS: words}


def read_exported(model: Path, words: Tensor) -> dict[str, Tensor]:
    """The weights of an exported model: whole numbers times the scale of their column."""
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(model).graph.initializer}
    state: dict[str, Tensor] = {WORDS: words}
    for name, value in stored.items():
        layer = name.removesuffix(".packed").removesuffix(".kernel")
        if name.endswith(".packed") and layer != "words" and not layer.startswith("words."):
            scales = stored[name.removesuffix("packed") + "scales"]
            state[f"{layer}.weight"] = torch.tensor(value.astype("float32") * scales).T.contiguous()
        elif name.endswith(".kernel"):
            state[f"{layer}.weight"] = torch.tensor(value).T.contiguous()
        elif name.endswith((".bias", ".weight")):
            state[name] = torch.tensor(value)
    state["embeddings.position_embeddings.weight"] = torch.tensor(stored["positions"])
    return state


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    keep = commands.add_parser("keep", help="write a milestone of a checkpoint")
    keep.add_argument("checkpoint", type=Path)
    keep.add_argument("--teacher", action="store_true", help="the checkpoint is a teacher's")
    start = commands.add_parser("start", help="write weights that train.py starts from")
    start.add_argument("milestone", type=Path)
    start.add_argument("--base", type=Path, required=True, help="the base's safetensors file, for its word embeddings")
    shipped = commands.add_parser("shipped", help="write weights that train.py starts from, of an exported model")
    shipped.add_argument("model", type=Path, help="model.onnx")
    shipped.add_argument(
        "--base", type=Path, required=True, help="the base's safetensors file, for its word embeddings"
    )
    for command in (keep, start, shipped):
        command.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    if given.command == "keep" and given.teacher:
        save_file(list_kept(read_state(given.checkpoint)), given.out)
    elif given.command == "keep":
        save_file(pack(read_state(given.checkpoint)), given.out)
    elif given.command == "shipped":
        save_file(read_exported(given.model, load_file(given.base)[WORDS].clone()), given.out)
    else:
        save_file(unpack(load_file(given.milestone), load_file(given.base)[WORDS].clone()), given.out)
    print(f"{given.out}: {given.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
