"""The error shown to users: a stable code, a message and a remedy."""


class WeighbeamError(Exception):
    """An error with a stable snake_case code, a sentence, and a remedy.

    >>> raise WeighbeamError("bad_params", "alpha is 2", "give a value in (0, 1]")
    Traceback (most recent call last):
    ...
    weighbeam.core.errors.WeighbeamError: bad_params: alpha is 2 (give a value in (0, 1])
    """

    def __init__(self, code: str, message: str = "", remedy: str = "") -> None:
        self.code = code
        self.message = message or code.replace("_", " ")
        self.remedy = remedy
        super().__init__(f"{code}: {self.message}" + (f" ({remedy})" if remedy else ""))


def require(holds: bool, code: str, message: str = "", remedy: str = "") -> None:
    """Refuse with `code` unless `holds`."""
    if not holds:
        raise WeighbeamError(code, message, remedy)
