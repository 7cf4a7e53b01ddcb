"""The moving average every standing is made of."""


def move_average(previous: float, new: float, alpha: float) -> float:
    """`alpha · new + (1 − alpha) · previous`, in float64 and in exactly this form.

    >>> move_average(2.0, 4.0, 0.25)
    2.5
    """
    return alpha * new + (1 - alpha) * previous
