"""Sections of the settings; network constants are fixed in code and are not among them."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from weighbeam.mechanism.defaults import CHALLENGED_MECHANISM, DEFAULT_MECHANISM


def about(text: str, **limits: Any) -> Any:
    return Field(description=text, **limits)


class SettingsSection(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class WalletSection(SettingsSection):
    """Who we are: a hotkey. The coldkey is never needed."""

    name: Annotated[str | None, about("a wallet by its name, in the folder where wallets are kept")] = None
    hotkey_name: Annotated[str, about("which of that wallet's hotkeys")] = "default"
    path: Annotated[Path, about("the folder where wallets are kept")] = Path("~/.bittensor/wallets")
    file: Annotated[Path | None, about("a hotkey file as wallets write it, instead of a name")] = None
    password_file: Annotated[Path | None, about("a file with the password of an encrypted hotkey file")] = None
    uri: Annotated[SecretStr | None, about("a secret URI such as //Alice; for the local chain and tests")] = None
    hotkey: Annotated[str | None, about("the ss58 address expected; another one is refused")] = None


class ChainSection(SettingsSection):
    """Which chain, and which subnet of it."""

    kind: Annotated[
        Literal["local", "bittensor"], about("the chain: local is a file that processes share, bittensor the real one")
    ] = "local"
    path: Annotated[Path, about("the local chain's file")] = Path("chain.sqlite")
    endpoint: Annotated[str, about("bittensor: a network such as finney or test, or a node's ws:// URL")] = "finney"
    fallbacks: Annotated[tuple[str, ...], about("bittensor: nodes to go on with when that one is gone or still")] = ()
    netuid: Annotated[int | None, about("bittensor: the subnet", ge=1, le=4095)] = None
    cache: Annotated[Path, about("bittensor: folder for the runtime's description")] = Path("bittensor-cache")


class StoreSection(SettingsSection):
    """Where the journal is kept."""

    url: Annotated[str, about("a database URL")] = "sqlite:///weighbeam.db"
    artifacts: Annotated[str, about("where heatmaps go: a folder, or s3://BUCKET/PREFIX")] = "artifacts"


class WeighInSection(SettingsSection):
    """The four numbers an operator may choose; each has a variable of its own, such as WEIGHBEAM_EMA_ALPHA."""

    ema_alpha: Annotated[float, about("weight of the newest emission")] = 0.3
    ema_lookback_hours: Annotated[float, about("how far back emissions count")] = 24.0
    db_retention_hours: Annotated[float, about("how long rounds are kept; at least twice the lookback")] = 48.0
    db_cleanup_interval_hours: Annotated[float, about("how often older ones are removed")] = 24.0


class ValidatorSection(SettingsSection):
    """How this validator asks, and how it is watched."""

    known_validators: Annotated[str | None, about("file or URL of the list of known validators")] = None
    endpoints: Annotated[tuple[str, ...], about("where miners are found, first hit wins: static, chain, plug-ins")] = (
        "chain",
    )
    endpoints_file: Annotated[Path | None, about("the file of the source static: {hotkey: url}")] = None
    dialect: Annotated[str, about("how miners are asked whose endpoint names no dialect")] = "btauth/1"
    replies: Annotated[Literal["required", "preferred"], about("whether replies must be signed")] = "required"
    parallel: Annotated[int, about("requests in flight at most", ge=1, le=1024)] = 64
    rounds: Annotated[
        Literal["own", "observers"], about("who plays rounds: the validator itself, or observers beside it")
    ] = "own"
    observer_rounds: Annotated[int, about("rounds that one observer plays at once, per mechanism", ge=1, le=256)] = 4
    allow_private_addresses: Annotated[bool, about("ask miners on private and loopback addresses")] = False
    require_permit: Annotated[
        bool, about("ask miners only while our hotkey holds a validator permit; false where miners need none")
    ] = True
    probes: Annotated[tuple[str, ...], about("host:port to try when no miner can be reached at all")] = ()
    listen: Annotated[str | None, about("host:port of /health and /metrics; empty for none")] = "127.0.0.1:9090"
    patience_seconds: Annotated[float, about("without progress for so long, the process ends", ge=60)] = 1800.0
    embedder: Annotated[str, about("the embedder, as in weighbeam score --embedder")] = "minilm-fp32"
    pages: Annotated[str, about("where evidence is read: live, archive:PLACE, or embedded for sample pages")] = "live"
    rendering: Annotated[
        Literal["off", "on"], about("whether live pages are read as a confined browser shows them")
    ] = "off"
    browser: Annotated[str, about("the browser that renders pages: a Chromium, by name or path")] = "chromium"
    user_agent: Annotated[
        str | None,
        about("how pages are asked for; weighbeam/VERSION if not given", pattern=r"^[!-~]([ -~]{0,198}[!-~])?$"),
    ] = None
    robots: Annotated[Literal["ignore", "respect"], about("whether robots.txt of the pages' hosts is respected")] = (
        "ignore"
    )
    lists: Annotated[Path | None, about("folder of the blacklist and the approved list of evidence")] = None
    lists_key: Annotated[
        str | None, about("whose signature every list must carry: an ss58 address, or ed25519:ADDRESS")
    ] = None
    second_read_seconds: Annotated[
        float | None, about("pages of evidence are read again after so many seconds; unset: never", ge=0, le=60)
    ] = None
    second_address: Annotated[str | None, about("an address of this machine that second reads leave from")] = None
    made_for_task: Annotated[bool, about("refuse evidence from pages that say they are younger than the task")] = False
    entailment: Annotated[str, about("who judges what a passage says: nli-minilm or hf:MODEL")] = "nli-minilm"
    assessor: Annotated[str | None, about("a second opinion that may reject snippets: openai:MODEL@URL")] = None
    narrator: Annotated[str, about("who tells what happened in a round: deterministic, or openai:MODEL@URL")] = (
        "deterministic"
    )
    copies_url: Annotated[str | None, about("where records of copied answers are sent, if anywhere")] = None
    copies_token: Annotated[SecretStr | None, about("shown to it as a bearer token")] = None


class ClusterSection(SettingsSection):
    """A Ray cluster whose nodes embed, judge and read pages; a Ray node has to run on this machine too."""

    address: Annotated[
        str | None,
        about(
            "the cluster: auto for this machine's, or its head's HOST:PORT; unset: none", pattern=r"^(auto|\S+:\d+)$"
        ),
    ] = None
    min_workers: Annotated[int, about("workers kept for each sense in use, one core each", ge=1, le=1024)] = 1
    max_workers: Annotated[int, about("maximum workers per sense while work waits", ge=1, le=1024)] = 8
    idle_seconds: Annotated[float, about("seconds without work before workers beyond min_workers stop", ge=1)] = 30.0
    patience_seconds: Annotated[
        float, about("without any work done for so long, this machine does it itself", ge=5, le=120)
    ] = 30.0


class MechanismSection(SettingsSection):
    """One mechanism to run."""

    mechid: Annotated[int, about("its mechanism id on chain", ge=0, le=15)] = 0
    tasks: Annotated[str, about("generated, folder:DIR, or file:PATH with a task per line")] = "generated"
    version_key: Annotated[int, about("the weights version this code keeps to; the chain may ask for it", ge=0)] = 0
    burn_hotkey: Annotated[str | None, about("who takes a burnt share: a hotkey of the subnet's owner")] = None
    params: Annotated[
        dict[str, Any], about("parameters other than the defaults; only from the file, and only with override_params")
    ] = Field(default_factory=dict)
    preset: Annotated[
        str | None, about("named parameters, such as seed: the literal formulas; only with override_params")
    ] = None
    override_params: Annotated[
        bool, about("accept params and preset: scores and weights then differ from those of other validators")
    ] = False

    @property
    def given_params(self) -> dict[str, Any]:
        """What the file says of the parameters, as `make_params` takes it."""
        return ({} if self.preset is None else {"preset": self.preset}) | self.params


class ChallengesSection(SettingsSection):
    """Questions of another program: pushed to validator.listen, or pulled by us; results go back by themselves."""

    mechanism: Annotated[str, about("the mechanism they are put to")] = CHALLENGED_MECHANISM
    callers: Annotated[tuple[str, ...], about("hotkeys that may push signed challenges")] = ()
    per_minute: Annotated[float, about("pushes per caller and minute", gt=0)] = 60.0
    nonces: Annotated[Path, about("file of the nonces seen in signed challenges")] = Path("challenge-nonces.sqlite")
    pull: Annotated[str | None, about("base URL: GET URL/challenges/next is asked on the interval")] = None
    interval_seconds: Annotated[float, about("how often it is asked", ge=1)] = 300.0
    callback: Annotated[str | None, about("URL that results are posted to")] = None
    token: Annotated[SecretStr | None, about("shown to pull and callback as a bearer token")] = None


class ServiceSection(SettingsSection):
    """Where `weighbeam serve` is reached, and who may read there without a token."""

    listen: Annotated[str, about("host:port to serve on; put TLS in front of it on a network")] = "127.0.0.1:8080"
    connections: Annotated[
        int,
        about(
            "open connections per address at most; from 127.0.0.1 and in all, 256 fewer than files (ulimit -n)",
            ge=1,
            le=65_536,
        ),
    ] = 256
    public: Annotated[bool, about("whoever reaches it may read without a token; on loopback anyone may")] = False
    origins: Annotated[tuple[str, ...], about("sites whose pages may call the API from a browser; none at first")] = ()
    per_minute: Annotated[
        float, about("calls per token and minute, unless it has a pace of its own; per address without one", gt=0)
    ] = 600.0
    streams: Annotated[int, about("live streams open at once at most", ge=1, le=10_000)] = 200


class SignedApiSection(SettingsSection):
    """Who may sign calls to an API of a mechanism: the section that the mechanism adds extends this one."""

    callers: Annotated[tuple[str, ...], about("hotkeys that may sign, each for itself")] = ()
    per_minute: Annotated[float, about("calls per caller and minute", gt=0)] = 600.0
    nonces: Annotated[Path, about("file of the nonces seen in signed calls")]


class MinerSection(SettingsSection):
    """How a miner serves, whom it answers, and with what."""

    listen: Annotated[str, about("host:port to serve on")] = "127.0.0.1:8091"
    announce: Annotated[str | None, about("host:port to announce on chain; the address listened on if not given")] = (
        None
    )
    answers: Annotated[
        dict[str, str],
        about(
            "by mechanism: a chunker, prepared:N, openai:MODEL@URL, archive:FOLDER#N, hostile:TRICK, "
            "package.module:function or FILE.py:function"
        ),
    ] = Field(default_factory=lambda: {DEFAULT_MECHANISM: "sentences"})
    nonces: Annotated[Path, about("file of the nonces seen")] = Path("nonces.sqlite")
    allow: Annotated[tuple[str, ...], about("hotkeys always answered")] = ()
    deny: Annotated[tuple[str, ...], about("hotkeys never answered")] = ()
    require_permit: Annotated[bool, about("answer only hotkeys with a validator permit")] = True
    min_stake_rao: Annotated[int, about("answer only hotkeys with this stake", ge=0)] = 0
    per_minute: Annotated[float, about("requests per sender and minute", gt=0)] = 60.0
    max_tasks: Annotated[int, about("tasks at once", ge=1)] = 8


class AlertsSection(SettingsSection):
    """Who is told of alerts, besides the log, the store and the dashboard."""

    urls: Annotated[
        tuple[SecretStr, ...], about("where to: discord://…, tgram://…, slack://…, mailto://… as apprise writes them")
    ] = ()
    level: Annotated[Literal["info", "warning", "critical"], about("the least level told")] = "warning"
    repeat_hours: Annotated[float, about("what goes on is told again after so many hours", gt=0)] = 24.0
    quiet_hours: Annotated[float, about("what was not raised again for so long is told to be over", gt=0)] = 3.0


class WandbSection(SettingsSection):
    """Experiment logging with Weights & Biases; needs the extra `wandb`, and no weight ever waits for it."""

    project: Annotated[str | None, about("the project; unset: nothing is logged")] = None
    entity: Annotated[str | None, about("the team or user it belongs to")] = None
    mode: Annotated[Literal["offline", "online"], about("offline writes a folder that can be synced later")] = "offline"
    folder: Annotated[Path, about("where it keeps its files")] = Path("wandb-runs")


class LogSection(SettingsSection):
    """What is logged, and how."""

    level: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], about("the least level shown")] = "INFO"
    format: Annotated[Literal["text", "json"], about("lines for people, or for programs")] = "text"
