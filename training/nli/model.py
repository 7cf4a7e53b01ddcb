"""MiniLM-L6 as a cross-encoder over pairs, with a head of three classes. Weight names are those of the encoder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from pairs import Example
from weighbeam.senses.adapters.text.word_pieces import CLS, SEP

LAYERS, HEADS, WIDTH, INNER, EPSILON = 6, 12, 384, 1536, 1e-12
FEATURES = 5 * WIDTH


@dataclass(frozen=True, slots=True)
class Batch:
    ids: Tensor
    types: Tensor
    present: Tensor
    labels: Tensor


def collate(rows: Sequence[Example]) -> Batch:
    """Rows of (nearly) equal length as tensors (rows, pieces)."""
    longest = max(len(row) for row in rows)
    ids = torch.zeros((len(rows), longest), dtype=torch.long)
    types = torch.zeros_like(ids)
    present = torch.zeros((len(rows), longest), dtype=torch.bool)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row.pieces.ids)
        types[i, row.pieces.split : len(row)] = 1
        present[i, : len(row)] = True
    return Batch(ids, types, present, torch.tensor([row.label for row in rows]))


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.self = nn.ModuleDict({part: nn.Linear(WIDTH, WIDTH) for part in ("query", "key", "value")})
        self.output = nn.ModuleDict({"dense": nn.Linear(WIDTH, WIDTH), "LayerNorm": nn.LayerNorm(WIDTH, eps=EPSILON)})

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        rows, pieces, _ = hidden.shape
        shape = (rows, pieces, HEADS, WIDTH // HEADS)
        query, key, value = (self.self[part](hidden).view(shape).transpose(1, 2) for part in ("query", "key", "value"))
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        dense = self.output["dense"](mixed.transpose(1, 2).reshape(rows, pieces, WIDTH))
        return self.output["LayerNorm"](dense + hidden)


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = Attention()
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(WIDTH, INNER)})
        self.output = nn.ModuleDict({"dense": nn.Linear(INNER, WIDTH), "LayerNorm": nn.LayerNorm(WIDTH, eps=EPSILON)})

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        first = self.attention(hidden, mask)
        wide = functional.gelu(self.intermediate["dense"](first))
        return self.output["LayerNorm"](self.output["dense"](wide) + first)


class CrossEncoder(nn.Module):
    def __init__(self, words: int = 30_522, positions: int = 512, dropout: float = 0.1) -> None:
        super().__init__()
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(words, WIDTH),
                "position_embeddings": nn.Embedding(positions, WIDTH),
                "token_type_embeddings": nn.Embedding(2, WIDTH),
                "LayerNorm": nn.LayerNorm(WIDTH, eps=EPSILON),
            }
        )
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(Layer() for _ in range(LAYERS))})
        self.head = nn.ModuleDict({"dense": nn.Linear(FEATURES, WIDTH), "out": nn.Linear(WIDTH, 3)})
        self.dropout = nn.Dropout(dropout)
        self.embeddings["word_embeddings"].weight.requires_grad_(False)

    def forward(self, batch: Batch) -> Tensor:
        """Logits (rows, 3)."""
        words = self.embeddings["word_embeddings"](batch.ids)
        where = self.embeddings["position_embeddings"].weight[: batch.ids.shape[1]]
        which = self.embeddings["token_type_embeddings"].weight[batch.types]
        hidden = self.embeddings["LayerNorm"](words + where + which)
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


def from_minilm(weights: Path, dropout: float) -> CrossEncoder:
    """The encoder as it was trained for embeddings, with a fresh head."""
    model = CrossEncoder(dropout=dropout)
    given = {name: tensor for name, tensor in load_file(weights).items() if name in model.state_dict()}
    missing, _ = model.load_state_dict(given, strict=False)
    if unknown := [name for name in missing if not name.startswith("head.")]:
        raise SystemExit(f"{weights} lacks {', '.join(unknown)}")
    return model
