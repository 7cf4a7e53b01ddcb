"""Under what a validator plays: its observers have to play under the same."""

from collections.abc import Sequence

from weighbeam import __version__
from weighbeam.core.canonical import Json
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.validator import Post
from weighbeam.store.database import Store
from weighbeam.store.remember import recall, remember


def note_terms(store: Store, posts: Sequence[Post]) -> None:
    for post in posts:
        remember(store, _key(post), _write(post))


def check_terms(store: Store, posts: Sequence[Post]) -> None:
    """`observer_differs` if the validator of this store, as it last started, plays under others."""
    for post in posts:
        known, ours = recall(store, _key(post)), _write(post)
        different = [name for name in ours if known is not None and known.get(name) != ours[name]]
        if different:
            told = f"{post.name} is played with another {', '.join(different)} than the validator's"
            raise WeighbeamError(
                "observer_differs", told, "give it the validator's settings and version; start that first"
            )


def _key(post: Post) -> str:
    return f"terms:{post.name}"


def _write(post: Post) -> dict[str, Json]:
    return {
        "version": __version__,
        "params": post.bench.params.model_dump(mode="json"),
        "embedder": post.bench.senses.embedder.digest,
    }
