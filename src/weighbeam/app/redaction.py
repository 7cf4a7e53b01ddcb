"""Remove secrets from anything that is about to be shown; pure."""

import json
import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, quote_plus

HIDDEN = "[hidden]"
LEAST = 4
"""Shorter values are not secret, and hiding them would spoil every line."""
DEEPEST = 6
MAX_PASSES = 4
SHAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(wb_[A-Za-z0-9]+_)[A-Za-z0-9_-]+"), rf"\1{HIDDEN}"),
    (re.compile(r"(?i)(\bbearer\s+)[^\s\"',;]+"), rf"\1{HIDDEN}"),
    (re.compile(r"(?i)(\bauthorization['\"]?\s*[:=]\s*['\"]?\w+\s+)[^\s\"',;]+"), rf"\1{HIDDEN}"),
    (re.compile(r"(://)[^/\s?#]+@"), rf"\1{HIDDEN}@"),
    (re.compile(r"(?i)([?&][\w.-]*(?:token|key|secret|pass|password|signature|auth)=)[^&\s\"']+"), rf"\1{HIDDEN}"),
    (re.compile(r"(?<![:\w/.*\]])//[A-Za-z0-9]\w*(?:/{1,2}\w+)*"), HIDDEN),
)


@dataclass(frozen=True, slots=True)
class Redactor:
    """Hides what `secrets` says, and everything that looks like a secret of ours."""

    secrets: re.Pattern[str] | None

    def hide(self, text: str) -> str:
        """
        >>> make_redactor(["s3cret-value"]).hide("it was s3cret-value, sent to https://me:pw@host/x")
        'it was [hidden], sent to https://[hidden]@host/x'
        >>> make_redactor([]).hide("Authorization: Bearer wb_ab12_xyz by //Alice//stash")
        'Authorization: Bearer [hidden] by [hidden]'
        """
        for _ in range(MAX_PASSES):
            hidden = self._hide_once(text)
            if hidden == text:
                return text
            text = hidden
        return HIDDEN if self.secrets is not None and self.secrets.search(text) else text

    def _hide_once(self, text: str) -> str:
        if self.secrets is not None:
            text = self.secrets.sub(HIDDEN, text)
        for shape, shown in SHAPES:
            text = shape.sub(shown, text)
        return text

    def hide_all(self, value: Any, depth: int = 0) -> Any:
        """Redact any JSON value, keys included.

        >>> make_redactor(["s3cret"]).hide_all({"s3cret": [1, None, ("a s3cret",)]})
        {'[hidden]': [1, None, ['a [hidden]']]}
        """
        if value is None or isinstance(value, (bool, int, float)):
            shown = str(value)
            known = shown if isinstance(value, float) and not math.isfinite(value) else value
            return known if self.hide(shown) == shown else HIDDEN
        if depth < DEEPEST and isinstance(value, Mapping):
            return {self.hide(str(key)): self.hide_all(inner, depth + 1) for key, inner in value.items()}
        if depth < DEEPEST and isinstance(value, Collection) and not isinstance(value, (str, bytes, bytearray)):
            return [self.hide_all(inner, depth + 1) for inner in value]
        return self.hide(value if isinstance(value, str) else _format_value(value))


def make_redactor(secrets: Iterable[str]) -> Redactor:
    """The longest first, so that no part of one is left when another is found inside it."""
    forms = {form for secret in secrets if len(secret.strip()) >= LEAST for form in _list_forms(secret.strip())}
    if not forms:
        return Redactor(None)
    ordered = sorted(forms, key=lambda form: (-len(form), form))
    return Redactor(re.compile("|".join(r"\s+".join(map(re.escape, form.split())) for form in ordered)))


def _list_forms(secret: str) -> set[str]:
    return {
        secret,
        repr(secret)[1:-1],
        repr(secret.encode("utf-8", "replace"))[2:-1],
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        quote(secret, safe="", errors="replace"),
        quote(secret, errors="replace"),
        quote_plus(secret, errors="replace"),
    }


def _format_value(value: Any) -> str:
    try:
        return str(value)
    except Exception as fault:
        return f"{type(value).__name__} that cannot be shown: {type(fault).__name__}"
