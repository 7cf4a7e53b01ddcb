"""Inference on pages and in tables."""

from weighbeam.mechanism.page import MechanismPage

PAGE = MechanismPage(
    lead="Miners answer a prompt; answers of quality that agree are paid. The standing averages emissions.",
    parts={name: name for name in ("similarity", "quality", "confidence", "consensus", "diversity")},
    task_fields={"prompt": "Prompt", "messages": "Conversation"},
    form_field="prompt",
    form_label="Answer this prompt",
    standing="earned",
    decimals=1,
    legend="earned: average emission; shares pay: copy and original have one pay together\n"
    "a fluent lie is paid like an answer: truth is not judged",
)
