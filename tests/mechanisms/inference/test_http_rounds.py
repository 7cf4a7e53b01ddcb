"""Inference over real HTTP: prepared voices against tricks, averaged into weights, replayed to the bit."""

import asyncio
import itertools
import json
from contextlib import ExitStack
from pathlib import Path

import pytest

from engine.wall_clock import WallClock
from network.loopback import open_nonces, serve_app
from senses.chat_server import Behaviour, ChatHandler, hang, serve_chat
from weighbeam.chain.local.administer import announce, register
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.local.port import LocalChain
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.rounds.context import RoundContext
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.records import Task
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanisms.inference.miners.handlers import TRICKS, honest_answerer, hostile_answerer, openai_answerer
from weighbeam.mechanisms.inference.miners.prepared_answers import load_prompts
from weighbeam.network.ask import Asker, AskSettings
from weighbeam.network.keys import Hotkey
from weighbeam.network.miner_app import make_miner_app
from weighbeam.network.policy import PolicySettings, SenderPolicy, SenderStanding
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

ALICE, TAO = Hotkey.from_uri("//Alice"), 10**9
POOR = "poor"
PAID = ("copycat", "overconfident", "contradictor")


@pytest.fixture
def runner(tmp_path: Path, senses: LocalSenses):
    """Five honest voices, every trick, and one miner without the stake to be asked."""
    file = ChainFile.create(
        tmp_path / "chain.sqlite", SubnetParameters(tempo=20, rate_limit=5, max_validators=1), manual=True
    )
    register(file, ALICE.address, stake=5000 * TAO)
    handlers = {f"honest-{voice}": honest_answerer(voice) for voice in range(5)}
    handlers |= {trick: hostile_answerer(trick) for trick in TRICKS} | {POOR: honest_answerer(0)}
    with ExitStack() as stack:
        for name, handler in handlers.items():
            hotkey = Hotkey.from_uri(f"//{name}")
            policy = SenderPolicy(PolicySettings(per_minute=6000, burst=100))
            policy.update({ALICE.address: SenderStanding(True, 10**12)})
            app = make_miner_app(hotkey, {"inference": handler}, open_nonces(tmp_path / f"{name}.sqlite"), policy)
            register(file, hotkey.address, stake=0 if name == POOR else 200 * TAO)
            announce(file, hotkey.address, stack.enter_context(serve_app(app)))
        advance(file, 21)
        mechanism = load_mechanism("inference")
        params = make_params(mechanism, {"timeout_seconds": 10.0, "max_miners": 20})
        store = Store(f"sqlite:///{tmp_path / 'journal.db'}")
        journal, chain = Journal(store), LocalChain(file, ALICE)
        weigh_in_context = WeighInContext(mechanism, params, journal, Ledger(store, "inference"), chain, ALICE.address)
        round_context = RoundContext(
            mechanism, params, journal, Asker(ALICE, AskSettings(allow_private=True, per_address=64)), senses
        )
        prompts = itertools.cycle(sorted(load_prompts()))
        yield MechanismRunner(
            round_context, weigh_in_context, lambda _: Task("t", {"prompt": next(prompts)}), WallClock()
        )


def name_of(hotkey: str) -> str:
    names = (*(f"honest-{voice}" for voice in range(5)), *TRICKS, POOR)
    return next(name for name in names if Hotkey.from_uri(f"//{name}").address == hotkey)


def test_honest_voices_are_paid_and_tricks_are_not(runner: MechanismRunner) -> None:
    for _ in range(3):
        done = asyncio.run(runner.play_round())
    scores = {name_of(score.hotkey): score for score in done.scored.scores}
    assert POOR not in scores
    assert len(scores) == 5 + len(TRICKS)
    for trick in ("garbage-1", "garbage-2", "garbage-3", "echo", "stuffing", "giant", "instant-garbage"):
        assert scores[trick].status == "failed", trick
    weighed = asyncio.run(runner.weigh_in())
    assert weighed.submission.state == "confirmed"
    shares = {name_of(hotkey): share for hotkey, share in weighed.decision.weights.items()}
    honest = sum(share for name, share in shares.items() if name.startswith("honest"))
    assert honest + sum(shares[trick] for trick in PAID) == pytest.approx(1.0)
    alone = [shares[f"honest-{voice}"] for voice in range(1, 4)]
    assert shares["copycat"] + shares["honest-0"] < 1.3 * max(alone), "copies share one pay"
    assert shares["overconfident"] < min(alone), "certainty alone is worth little"
    assert shares["contradictor"] < 1.3 * max(alone), "truth is not judged; a lie is worth no more than an answer"
    assert [r.fault for r in replay(runner.round_context.journal.store, load_mechanism) if r.fault] == []


def stream(*pieces: str, finish: str | None = "stop", then: Behaviour | None = None) -> Behaviour:
    """A chat endpoint that writes its text piece by piece."""

    def behave(handler: ChatHandler) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("connection", "close")
        handler.end_headers()
        frame = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        for text, end in [*((piece, None) for piece in pieces), (None, finish)]:
            choice = {"index": 0, "delta": {"content": text}, "finish_reason": end}
            handler.wfile.write(f"data: {json.dumps({**frame, 'choices': [choice]})}\n\n".encode())
            handler.wfile.flush()
        if then is not None:
            then(handler)
        handler.wfile.write(b"data: [DONE]\n\n")
        handler.close_connection = True

    return behave


def test_a_miner_may_ask_any_openai_compatible_endpoint() -> None:
    with serve_chat(stream("Forty", " two.")) as server:
        said = asyncio.run(openai_answerer("m", server.url)({"prompt": "How much?"}, 10.0))
    assert said == {"text": "Forty two."}
    assert server.requests[0]["messages"] == [{"role": "user", "content": "How much?"}]
    assert server.requests[0]["max_tokens"] == 1024


@pytest.mark.parametrize(
    "behave", [stream("It is many. Or", " so", finish="length"), stream("It is many. Or", finish=None, then=hang)]
)
def test_a_text_that_does_not_end_is_cut_after_a_sentence(behave: Behaviour) -> None:
    with serve_chat(behave) as server:
        said = asyncio.run(openai_answerer("m", server.url)({"prompt": "How much?"}, 2.0))
    assert said == {"text": "It is many."}


def test_a_model_that_says_nothing_in_time_is_a_timeout() -> None:
    with serve_chat(hang) as server, pytest.raises(TimeoutError):
        asyncio.run(openai_answerer("m", server.url)({"prompt": "How much?"}, 0.5))
