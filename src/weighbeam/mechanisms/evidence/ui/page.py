"""Evidence on pages and in tables."""

from weighbeam.mechanism.page import MechanismPage

PAGE = MechanismPage(
    lead="Miners back or refute a statement with quotes, checked on their page. The standing is an average.",
    parts={"sum": "snippets", "speed": "speed"},
    task_fields={"statement": "Statement"},
    form_field="statement",
    form_label="Check this statement",
    standing="avg",
    table_width=104,
    legend="avg: moving average of values; half of the weights goes to the first, a quarter to the second …",
)
