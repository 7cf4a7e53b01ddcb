"""Chunking on pages and in tables."""

from weighbeam.mechanism.page import MechanismPage

PAGE = MechanismPage(
    lead="Miners split a document; chunks that hold together and stand apart win. The standing is a rank.",
    parts={
        "intra": "within",
        "inter": "between",
        "size_penalty": "too long",
        "qty_penalty": "too many",
        "time_penalty": "too late",
    },
    task_fields={"document": "Document"},
    form_field="document",
    form_label="Chunk this document",
    standing="rank",
    legend="rank: moving average of places, lower is better",
)
