"""Measure how large each channel of MiniLM grows, and write `smoothing.npy`: by what `minilm-int8` divides it.

A factor is greatest^0.7 / weight^0.3, where `greatest` is the largest value of the channel over paragraphs of the
shipped bank and `weight` the largest weight it meets; their geometric mean is 1. It is kept in eighths of a power of
two, so that every machine builds the same weights.
"""

import numpy as np
from numpy.typing import NDArray

from weighbeam.mechanism.topic_bank import load_topics
from weighbeam.senses.adapters.embedding.minilm_graph import (
    LAYERS,
    GraphBuilder,
    Weights,
    add_embeddings,
    add_layer,
    load_weights,
)
from weighbeam.senses.adapters.embedding.packed_graph import SMOOTHING
from weighbeam.senses.adapters.model_files import WEIGHTS_SHA256, find_minilm, verify_file
from weighbeam.senses.adapters.onnx import FLOAT, INT64, OnnxGraph, OnnxValue, encode_model, open_session

POWER = 0.7
TEXTS = 64
EVERY = 4
FOLLOWERS = (tuple(f"attention.self.{part}" for part in ("query", "key", "value")), ("intermediate.dense",))
"""The matrices behind each of the two places of a layer."""


def find_greatest(weights: Weights) -> NDArray[np.float64]:
    """(layers, places, channels): the largest value met by each channel."""
    from tokenizers import Tokenizer

    graph = GraphBuilder(weights)
    hidden = add_embeddings(graph)
    places: list[str] = []
    for index in range(LAYERS):
        places += [hidden, f"encoder.layer.{index}.first"]
        hidden = add_layer(graph, hidden, f"encoder.layer.{index}")
    taken = OnnxValue("input_ids", INT64, ["batch", "pieces"])
    given = [OnnxValue(place, FLOAT, ["batch", "pieces", 384]) for place in places]
    session = open_session(encode_model(OnnxGraph("minilm", graph.nodes, graph.constants, [taken], given)))
    tokenizer = Tokenizer.from_file(str(find_minilm().tokenizer))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    greatest = np.zeros((len(places), 384))
    paragraphs = [text for texts in load_topics().values() for text in texts]
    for text in paragraphs[::EVERY][:TEXTS]:
        found = session.run(places, {"input_ids": np.array([tokenizer.encode(text).ids])})
        greatest = np.maximum(greatest, [np.abs(values).max(axis=(0, 1)) for values in found])
    return greatest.reshape(LAYERS, len(FOLLOWERS), 384)


def choose_factors(weights: Weights, greatest: NDArray[np.float64]) -> NDArray[np.int8]:
    eighths = np.zeros(greatest.shape, dtype=np.int8)
    for index in range(LAYERS):
        for place, names in enumerate(FOLLOWERS):
            met = [np.abs(weights[f"encoder.layer.{index}.{name}.weight"]).max(axis=0) for name in names]
            power = POWER * np.log2(greatest[index, place]) - (1 - POWER) * np.log2(np.max(met, axis=0))
            eighths[index, place] = np.rint(8 * (power - power.mean()))
    return eighths


def main() -> None:
    found = find_minilm().weights
    verify_file(found, WEIGHTS_SHA256)
    weights = load_weights(found)
    eighths = choose_factors(weights, find_greatest(weights))
    np.save(SMOOTHING, eighths)
    print(f"{eighths.shape}, factors 2^{eighths.min() / 8:.2f} to 2^{eighths.max() / 8:.2f}")


if __name__ == "__main__":
    main()
