"""Let the garbage collector forget what is there to stay.

A full collection goes through every object of every module that is loaded and holds up the event loop for 60 ms and
more. What exists once a validator is built lives as long as it does.
"""

import gc


def settle_memory() -> None:
    """To be called once, when everything is loaded."""
    gc.collect()
    gc.freeze()
