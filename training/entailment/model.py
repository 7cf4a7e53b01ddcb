"""A BERT-style cross-encoder over pairs, with a head of three classes. Weight names are those of the encoder.

The number of layers and the inner width of each feed-forward block are read from the weights.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from pairs import Example
from weighbeam.senses.adapters.text.word_pieces import CLS, SEP

HEADS, WIDTH, EPSILON = 12, 384, 1e-12
FEATURES = 5 * WIDTH

State = Mapping[str, Tensor]


@dataclass(frozen=True, slots=True)
class Batch:
    """`ids`, `types`, `present`: (rows, pieces); `targets`: (rows, 3) probabilities; `labels`: (rows)."""

    ids: Tensor
    types: Tensor
    present: Tensor
    targets: Tensor
    labels: Tensor


def collate(rows: Sequence[Example]) -> Batch:
    """Rows of (nearly) equal length as tensors."""
    longest = max(len(row) for row in rows)
    ids = torch.zeros((len(rows), longest), dtype=torch.long)
    types = torch.zeros_like(ids)
    present = torch.zeros((len(rows), longest), dtype=torch.bool)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row.pieces.ids)
        types[i, row.pieces.split : len(row)] = 1
        present[i, : len(row)] = True
    targets = torch.tensor([row.target for row in rows], dtype=torch.float32)
    return Batch(ids, types, present, targets, torch.tensor([row.label for row in rows]))


def mask_bias(mask: Tensor) -> Tensor:
    return torch.zeros(mask.shape).masked_fill(~mask, -1e4)


def attend(query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None) -> Tensor:
    """Attention written out: torch's fused kernel has a slow backward pass for bf16 on a processor."""
    scores = (query @ key.transpose(2, 3)).float() / math.sqrt(query.shape[3])
    shares = (scores if bias is None else scores + bias).softmax(dim=3)
    return shares.to(value.dtype) @ value


class Attention(nn.Module):
    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.self = nn.ModuleDict({part: nn.Linear(WIDTH, WIDTH) for part in ("query", "key", "value")})
        self.output = nn.ModuleDict({"dense": nn.Linear(WIDTH, WIDTH), "LayerNorm": nn.LayerNorm(WIDTH, eps=EPSILON)})
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        rows, pieces, _ = hidden.shape
        shape = (rows, pieces, HEADS, WIDTH // HEADS)
        query, key, value = (self.self[part](hidden).view(shape).transpose(1, 2) for part in ("query", "key", "value"))
        mixed = attend(query, key, value, None if mask is None else mask_bias(mask))
        dense = self.output["dense"](mixed.transpose(1, 2).reshape(rows, pieces, WIDTH))
        normal: Tensor = self.output["LayerNorm"](self.dropout(dense) + hidden)
        return normal


class Layer(nn.Module):
    def __init__(self, inner: int, dropout: float) -> None:
        super().__init__()
        self.attention = Attention(dropout)
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(WIDTH, inner)})
        self.output = nn.ModuleDict({"dense": nn.Linear(inner, WIDTH), "LayerNorm": nn.LayerNorm(WIDTH, eps=EPSILON)})
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        first = self.attention(hidden, mask)
        wide = functional.gelu(self.intermediate["dense"](first))
        normal: Tensor = self.output["LayerNorm"](self.dropout(self.output["dense"](wide)) + first)
        return normal


class CrossEncoder(nn.Module):
    """`inner` is the feed-forward width of each layer; the word embeddings are not trained."""

    def __init__(self, inner: Sequence[int], dropout: float = 0.0, words: int = 30_522, positions: int = 512) -> None:
        super().__init__()
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(words, WIDTH),
                "position_embeddings": nn.Embedding(positions, WIDTH),
                "token_type_embeddings": nn.Embedding(2, WIDTH),
                "LayerNorm": nn.LayerNorm(WIDTH, eps=EPSILON),
            }
        )
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(Layer(width, dropout) for width in inner)})
        self.head = nn.ModuleDict({"dense": nn.Linear(FEATURES, WIDTH), "out": nn.Linear(WIDTH, 3)})
        self.dropout = nn.Dropout(dropout)
        self.embeddings["word_embeddings"].weight.requires_grad_(False)

    def forward(self, batch: Batch) -> Tensor:
        """Logits (rows, 3)."""
        words = self.embeddings["word_embeddings"](batch.ids)
        where = self.embeddings["position_embeddings"].weight[: batch.ids.shape[1]]
        which = functional.embedding(batch.types, self.embeddings["token_type_embeddings"].weight)
        hidden = self.dropout(self.embeddings["LayerNorm"](words + where + which))
        mask = None if bool(batch.present.all()) else batch.present[:, None, None, :]
        for layer in self.encoder["layer"]:
            hidden = layer(hidden, mask)
        features = self.dropout(pool(hidden, batch))
        logits: Tensor = self.head["out"](self.dropout(functional.gelu(self.head["dense"](features))))
        return logits


def pool(hidden: Tensor, batch: Batch) -> Tensor:
    """[mean(premise), mean(hypothesis), |difference|, product, CLS]; the markers belong to neither mean."""
    plain = batch.present & (batch.ids != CLS) & (batch.ids != SEP)
    chosen = torch.stack([plain & (batch.types == 0), plain & (batch.types == 1)], dim=1).float()
    means = (chosen / chosen.sum(dim=2, keepdim=True).clamp(min=1)) @ hidden
    premise, hypothesis = means[:, 0], means[:, 1]
    return torch.cat([premise, hypothesis, (premise - hypothesis).abs(), premise * hypothesis, hidden[:, 0]], dim=1)


def list_inner_widths(state: State) -> list[int]:
    """The feed-forward width of each layer, in order."""
    widths: list[int] = []
    while (name := f"encoder.layer.{len(widths)}.intermediate.dense.weight") in state:
        widths.append(state[name].shape[0])
    return widths


def from_state(state: State, dropout: float = 0.0) -> CrossEncoder:
    """The model that `state` describes; a head that is missing starts fresh."""
    model = CrossEncoder(list_inner_widths(state), dropout)
    known = model.state_dict()
    missing, _ = model.load_state_dict({name: state[name] for name in state if name in known}, strict=False)
    if unknown := [name for name in missing if not name.startswith("head.")]:
        raise SystemExit(f"the weights lack {', '.join(unknown)}")
    return model


def read_state(path: Path) -> State:
    """Weights from a safetensors file, or from a checkpoint of a run."""
    if path.suffix == ".safetensors":
        return load_file(path)
    state: State = torch.load(path, weights_only=True)["model"]
    return state
