"""Rerun the pure half of a round, here or in a fresh process, and encode the outcome."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from weighbeam.core.canonical import Json, canonical_json
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.mechanism.records import Observation, Scored, Standing, Weights


def run_pure(
    mechanism: Mechanism, params: Params, observation: Observation
) -> tuple[Scored, tuple[Standing, ...], Weights]:
    """score → stand → weigh of one round, from no standings."""
    scored = mechanism.score(params, observation)
    standings = mechanism.stand(params, (), scored)
    weights = mechanism.weigh(params, standings, {standing.hotkey for standing in standings})
    return scored, standings, weights


def encode_pure(mechanism: Mechanism, params: Params, observation: Observation) -> bytes:
    """The canonical bytes of everything that follows from an observation."""
    scored, standings, weights = run_pure(mechanism, params, observation)
    rows: list[Json] = [[s.hotkey, s.value, dict(s.detail)] for s in standings]
    return canonical_json({"scored": scored.as_json(), "standings": rows, "weights": dict(weights.raw)})


def encode_in_subprocess(kind: type[Mechanism], params: Params, packed: bytes, hash_seed: str) -> bytes:
    """`encode_pure` of a packed observation, in a fresh process with this hash seed."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "observation"
        path.write_bytes(packed)
        command = [sys.executable, "-m", "weighbeam.mechanism.rerun", kind.__module__, kind.__qualname__, str(path)]
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            command,
            input=params.model_dump_json().encode(),
            capture_output=True,
            env=environment,
            timeout=120,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace").strip().splitlines()[-1])
    return done.stdout


def _main(arguments: Sequence[str]) -> None:
    """Score one packed observation in this process: `MODULE CLASS FILE`, parameters on standard input."""
    from importlib import import_module

    module, name, path = arguments
    mechanism = getattr(import_module(module), name)()
    params = mechanism.params_type.model_validate_json(sys.stdin.buffer.read())
    observation = Observation.unpack(Path(path).read_bytes())
    sys.stdout.buffer.write(encode_pure(mechanism, params, observation))


if __name__ == "__main__":
    _main(sys.argv[1:])
