"""Narrow the feed-forward blocks of a checkpoint to what they need least to lose.

A model of 12 layers of 384 judges 28 pairs of 64 pieces per CPU second where one of half the inner width judges 40.
An inner unit counts by the squared first-order change of the loss if it were removed, summed over batches: the sum of
weight times gradient over its outgoing weights. Units are ranked over all layers together, each layer keeping a least
width; widths are multiples of 32. The outgoing weights of the units that stay are then fitted again by least squares,
so that each block's output changes as little as it can on the same batches.
"""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional

from batches import draw_round, make_batches
from model import Batch, CrossEncoder, collate, from_state, list_inner_widths, read_state
from train import MIX, ROUND_PAIRS, prepare, read_arguments

LEAST = 512
STEP = 32
RIDGE = 1e-3

Importance = list[NDArray[np.float64]]


class Inputs:
    """The sums of products (units, units) of what each feed-forward block hands to its outgoing weights."""

    def __init__(self, model: CrossEncoder, widths: Sequence[int]) -> None:
        self.products = [torch.zeros((width, width), dtype=torch.float64) for width in widths]
        for number, layer in enumerate(model.encoder["layer"]):
            layer.output["dense"].register_forward_hook(partial(self.add, number))

    def add(self, number: int, _: nn.Module, given: tuple[Tensor, ...], __: Tensor) -> None:
        rows = given[0].detach().flatten(0, 1)
        self.products[number] += (rows.T @ rows).double()


def add_importance(model: CrossEncoder, batch: Batch, totals: Importance) -> None:
    """Add the squared loss change of each inner unit on one batch."""
    model.zero_grad()
    loss = functional.cross_entropy(model(batch), batch.targets, reduction="sum")
    loss.backward()
    for layer, total in zip(model.encoder["layer"], totals, strict=True):
        weight = layer.output["dense"].weight
        total += (weight * weight.grad).sum(dim=0).detach().double().numpy() ** 2


def choose_widths(importance: Importance, mean_width: int) -> list[int]:
    """Widths per layer that together have `mean_width` on average: blocks of 32 units, the most important first.

    >>> choose_widths([np.arange(1536.0), np.zeros(1536)], 704)
    [896, 512]
    """
    ordered = [np.sort(layer)[::-1] for layer in importance]
    blocks = [
        (float(layer[start : start + STEP].sum()), number)
        for number, layer in enumerate(ordered)
        for start in range(LEAST, len(layer), STEP)
    ]
    widths = [LEAST] * len(importance)
    room = (mean_width * len(importance) - sum(widths)) // STEP
    for _, number in sorted(blocks, reverse=True)[:room]:
        widths[number] += STEP
    return widths


def refit(outgoing: Tensor, products: Tensor, kept: Tensor) -> Tensor:
    """Outgoing weights (width, kept) of the kept units whose output is nearest to that of all units."""
    own = products[kept][:, kept]
    own += RIDGE * own.diagonal().mean() * torch.eye(len(kept), dtype=torch.float64)
    return torch.linalg.solve(own, products[kept] @ outgoing.double().T).T.float().contiguous()


def narrow(
    state: dict[str, Tensor], importance: Importance, widths: Sequence[int], inputs: Inputs
) -> dict[str, Tensor]:
    """The same weights with the least important inner units of each layer left out."""
    pruned = dict(state)
    for number, (layer, width) in enumerate(zip(importance, widths, strict=True)):
        kept = torch.from_numpy(np.sort(np.argsort(-layer, kind="stable")[:width]).copy())
        inner, outer = f"encoder.layer.{number}.intermediate.dense", f"encoder.layer.{number}.output.dense"
        pruned[f"{inner}.weight"] = state[f"{inner}.weight"][kept].contiguous()
        pruned[f"{inner}.bias"] = state[f"{inner}.bias"][kept].contiguous()
        pruned[f"{outer}.weight"] = refit(state[f"{outer}.weight"], inputs.products[number], kept)
    return pruned


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True, help="a model that has learnt the task a little")
    parser.add_argument("--data", required=True)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--out", type=Path, required=True, help="safetensors file to write")
    parser.add_argument("--width", type=int, default=672, help="mean inner width to keep")
    parser.add_argument("--batches", type=int, default=40, help="batches of training pairs to rank the units on")
    given = parser.parse_args()
    torch.set_num_threads(1)
    same = ["--data", given.data, "--tokenizer", given.tokenizer, "--start", str(given.checkpoint), "--run", "."]
    settings = read_arguments(same)
    data = prepare(settings)
    state = dict(read_state(given.checkpoint))
    model = from_state(state)
    totals: Importance = [np.zeros(width) for width in list_inner_widths(state)]
    inputs = Inputs(model, list_inner_widths(state))
    drawn = draw_round(data.pairs, MIX, 500, ROUND_PAIRS, settings.seed)
    for rows in make_batches(data.examples, drawn, 700, "prune")[: given.batches]:
        add_importance(model, collate([data.examples[index] for index in rows]), totals)
    widths = choose_widths(totals, given.width)
    save_file(narrow(state, totals, widths, inputs), given.out)
    print(f"inner widths {widths}")


if __name__ == "__main__":
    main()
