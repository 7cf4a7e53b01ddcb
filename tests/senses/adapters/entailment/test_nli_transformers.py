"""Any three-class model by name. Needs torch: `make test-torch`."""

from pathlib import Path

import numpy as np
import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.model_files import find_minilm
from weighbeam.senses.local import load_entailment
from weighbeam.senses.ports.protocols import Entailment

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")

PAIRS = [
    ("The tide turns.", "It turns."),
    ("A violin is carved from maple and spruce, then varnished.", "Short."),
    ("The tide turns. " * 200, "It turns."),
    ("A [SEP] B", "[CLS]"),
]


def build_model(folder: Path, names: dict[int, str]) -> Path:
    """A model of two narrow layers with random weights, saved as a hub folder is."""
    torch.manual_seed(3)
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = transformers.BertConfig(**shape, id2label=names, label2id={name: i for i, name in names.items()})
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(find_minilm().tokenizer),
        model_max_length=128,
        cls_token="[CLS]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        unk_token="[UNK]",
        mask_token="[MASK]",
    )
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_model(tmp_path_factory.mktemp("tiny"), {0: "ENTAILMENT", 1: "Contradiction", 2: "neutral"})


@pytest.fixture(scope="module")
def sense(folder: Path) -> Entailment:
    return load_entailment(f"hf:{folder}")


def test_columns_are_in_our_order(sense: Entailment, folder: Path) -> None:
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        theirs = model(**tokenizer(*PAIRS[0], return_tensors="pt")).logits.softmax(dim=1)[0].numpy()
    assert np.abs(sense.judge(PAIRS[:1])[0] / 1e6 - theirs[[1, 2, 0]]).max() < 2e-6


def test_rows_add_up_and_do_not_depend_on_the_batch(sense: Entailment) -> None:
    together = sense.judge(PAIRS)
    assert (together.sum(axis=1) == 1_000_000).all()
    assert together.dtype == np.int32
    assert np.array_equal(together, np.concatenate([sense.judge([pair]) for pair in PAIRS]))
    assert sense.judge([]).shape == (0, 3)


def test_a_written_out_marker_is_plain_text(sense: Entailment) -> None:
    given = sense._tokenizer("A [SEP] B", "[SEP] C", split_special_tokens=True)
    assert given["input_ids"].count(102) == 2


def test_a_blank_side_is_neutral(sense: Entailment) -> None:
    assert sense.judge([("", "a"), ("a", " \n")]).tolist() == [[0, 1_000_000, 0]] * 2


def test_a_lone_surrogate_is_an_error(sense: Entailment) -> None:
    with pytest.raises(WeighbeamError, match="bad_text"):
        sense.judge([("a", "\ud800")])


def test_other_weights_have_another_digest(sense: Entailment, tmp_path: Path) -> None:
    other = build_model(tmp_path, {0: "contradiction", 1: "entailment", 2: "neutral"})
    assert load_entailment(f"hf:{other}").digest != sense.digest


@pytest.mark.parametrize(
    "names",
    [
        {0: "entailment", 1: "not_entailment"},
        {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"},
        {0: "entailment", 1: "neutral", 2: "contradiction", 3: "other"},
    ],
)
def test_a_model_of_other_labels_is_refused(tmp_path: Path, names: dict[int, str]) -> None:
    with pytest.raises(WeighbeamError, match="not_entailment"):
        load_entailment(f"hf:{build_model(tmp_path, names)}")


def test_a_model_that_is_not_there_is_named() -> None:
    with pytest.raises(WeighbeamError, match="no_such_model"):
        load_entailment("hf:/no/such/model")
