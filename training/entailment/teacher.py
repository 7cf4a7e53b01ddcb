"""The teacher: all-mpnet-base-v2 as a cross-encoder over the same word pieces as the student, with a head of three
classes. Its vocabulary is the student's moved by four, so a batch serves both.

The base stays as it is, in bf16. What is trained is small enough to keep: a low-rank addition to each matrix, the
biases, the norms and the head.
"""

import math
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from model import Batch, State, attend
from weighbeam.senses.adapters.text.word_pieces import CLS, SEP

HEADS, WIDTH, INNER, LAYERS, EPSILON = 12, 768, 3072, 12, 1e-5
WORDS, POSITIONS, SHIFT = 30_527, 514, 4
START, PAD, END = 0, 1, 2
BUCKETS, FARTHEST = 32, 128
RANK = 24


def to_own_pieces(batch: Batch) -> Tensor:
    """Piece numbers (rows, pieces) of the teacher's vocabulary."""
    ids = batch.ids + SHIFT
    ids = ids.masked_fill(batch.ids == CLS, START).masked_fill(batch.ids == SEP, END)
    return ids.masked_fill(~batch.present, PAD)


def bucket_distances(pieces: int) -> Tensor:
    """Which of 32 buckets the distance of two pieces falls into: half for each direction, wider when farther."""
    where = torch.arange(pieces)
    away = where[:, None] - where[None, :]
    half = BUCKETS // 2
    side = (away < 0).long() * half
    away = away.abs()
    exact = half // 2
    wide = exact + (torch.log(away.clamp(min=1) / exact) / math.log(FARTHEST / exact) * (half - exact)).long()
    return side + torch.where(away < exact, away, wide.clamp(max=half - 1))


class Adapted(nn.Module):
    """A frozen matrix in bf16, a bias, and a trained addition of low rank that starts as nothing."""

    def __init__(self, width: int, out: int) -> None:
        super().__init__()
        self.register_buffer("weight", torch.zeros((out, width), dtype=torch.bfloat16))
        self.bias = nn.Parameter(torch.zeros(out))
        self.down = nn.Parameter(torch.randn(RANK, width) * (2 / math.sqrt(width)))
        self.up = nn.Parameter(torch.zeros(out, RANK))

    def forward(self, given: Tensor) -> Tensor:
        added = functional.linear(functional.linear(given, self.down), self.up)
        return functional.linear(given, self.weight, self.bias) + added


class Attention(nn.Module):
    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.attn = nn.ModuleDict({part: Adapted(WIDTH, WIDTH) for part in "qkvo"})
        self.LayerNorm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: Tensor, bias: Tensor) -> Tensor:
        rows, pieces, _ = hidden.shape
        shape = (rows, pieces, HEADS, WIDTH // HEADS)
        query, key, value = (self.attn[part](hidden).view(shape).transpose(1, 2) for part in "qkv")
        mixed = attend(query, key, value, bias)
        dense = self.attn["o"](mixed.transpose(1, 2).reshape(rows, pieces, WIDTH))
        normal: Tensor = self.LayerNorm(self.dropout(dense) + hidden)
        return normal


class Layer(nn.Module):
    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.attention = Attention(dropout)
        self.intermediate = nn.ModuleDict({"dense": Adapted(WIDTH, INNER)})
        self.output = nn.ModuleDict({"dense": Adapted(INNER, WIDTH), "LayerNorm": nn.LayerNorm(WIDTH, eps=EPSILON)})
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: Tensor, bias: Tensor) -> Tensor:
        first = self.attention(hidden, bias)
        wide = functional.gelu(self.intermediate["dense"](first))
        normal: Tensor = self.output["LayerNorm"](self.dropout(self.output["dense"](wide)) + first)
        return normal


class Teacher(nn.Module):
    """The word embeddings are not trained."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(WORDS, WIDTH),
                "position_embeddings": nn.Embedding(POSITIONS, WIDTH),
                "LayerNorm": nn.LayerNorm(WIDTH, eps=EPSILON),
            }
        )
        self.encoder = nn.ModuleDict(
            {
                "layer": nn.ModuleList(Layer(dropout) for _ in range(LAYERS)),
                "relative_attention_bias": nn.Embedding(BUCKETS, HEADS),
            }
        )
        self.head = nn.ModuleDict({"dense": nn.Linear(2 * WIDTH, WIDTH), "out": nn.Linear(WIDTH, 3)})
        self.dropout = nn.Dropout(dropout)
        self.embeddings["word_embeddings"].weight.requires_grad_(False)

    def forward(self, batch: Batch) -> Tensor:
        """Logits (rows, 3) from the first piece and the mean of all."""
        pieces = batch.ids.shape[1]
        words = self.embeddings["word_embeddings"](to_own_pieces(batch))
        where = self.embeddings["position_embeddings"].weight[PAD + 1 : PAD + 1 + pieces]
        hidden = self.dropout(self.embeddings["LayerNorm"](words + where))
        bias = self.encoder["relative_attention_bias"](bucket_distances(pieces)).permute(2, 0, 1)[None]
        if not bool(batch.present.all()):
            bias = bias.masked_fill(~batch.present[:, None, None, :], -1e4)
        for layer in self.encoder["layer"]:
            hidden = layer(hidden, bias)
        share = batch.present[:, :, None].to(hidden.dtype)
        mean = (hidden * share).sum(dim=1) / share.sum(dim=1)
        features = self.dropout(torch.cat([hidden[:, 0], mean], dim=1))
        logits: Tensor = self.head["out"](self.dropout(functional.gelu(self.head["dense"](features))))
        return logits


def is_kept(name: str) -> bool:
    """Whether a tensor is trained, and so belongs to a milestone; the base has the others.

    >>> is_kept("encoder.layer.0.output.dense.up"), is_kept("encoder.layer.0.output.dense.weight")
    (True, False)
    """
    base = name.startswith("embeddings.") and not name.startswith("embeddings.LayerNorm")
    return not base and (not name.endswith(".weight") or "LayerNorm" in name or "bias" in name or "head" in name)


def read_teacher(base: Path, trained: Path | None = None, dropout: float = 0.0) -> Teacher:
    """The base, with a fresh head and no additions, or with those of a milestone or checkpoint."""
    model = Teacher(dropout)
    state = dict(load_file(base))
    if trained is not None:
        state |= (
            load_file(trained) if trained.suffix == ".safetensors" else torch.load(trained, weights_only=True)["model"]
        )
    known = model.state_dict()
    missing, _ = model.load_state_dict({name: state[name] for name in state if name in known}, strict=False)
    if unknown := [name for name in missing if not is_kept(name) or trained is not None]:
        raise SystemExit(f"the weights lack {', '.join(unknown)}")
    for part in ("word_embeddings", "position_embeddings"):
        model.embeddings[part].weight.requires_grad_(False)
    return model


def list_kept(state: State) -> dict[str, Tensor]:
    """What a milestone holds, in half precision."""
    return {name: value.half().contiguous() for name, value in state.items() if is_kept(name)}
