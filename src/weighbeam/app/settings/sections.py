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
    """The hotkey of this node. The coldkey is never needed."""

    name: Annotated[str | None, about("name of a wallet in the folder of wallets")] = None
    hotkey_name: Annotated[str, about("name of a hotkey of that wallet")] = "default"
    path: Annotated[Path, about("folder of wallets")] = Path("~/.bittensor/wallets")
    file: Annotated[Path | None, about("path of a wallet's hotkey file, instead of a name")] = None
    password_file: Annotated[Path | None, about("a file with the password of an encrypted hotkey file")] = None
    uri: Annotated[SecretStr | None, about("a secret URI such as //Alice; for the local chain and tests")] = None
    hotkey: Annotated[str | None, about("expected ss58 address; any other is refused")] = None


class ChainSection(SettingsSection):
    """Which chain, and which subnet of it."""

    kind: Annotated[
        Literal["local", "bittensor"], about("the chain: local is a file that processes share, bittensor the real one")
    ] = "local"
    path: Annotated[Path, about("the local chain's file")] = Path("chain.sqlite")
    endpoint: Annotated[str, about("bittensor: a network such as finney or test, or a node's ws:// URL")] = "finney"
    fallbacks: Annotated[tuple[str, ...], about("bittensor: nodes to use if that one is lost or stalls")] = ()
    netuid: Annotated[int | None, about("bittensor: the subnet", ge=1, le=4095)] = None
    stall_seconds: Annotated[float, about("seconds without a new block after which an alert is raised", ge=1)] = 48.0
    max_clock_skew_seconds: Annotated[
        float, about("seconds that this machine's clock may differ from the chain's time before an alert", gt=0)
    ] = 30.0
    proxy_for: Annotated[
        str | None, about("hotkey that the weights belong to, if the wallet holds the key of its proxy instead")
    ] = None
    proxy_type: Annotated[
        Literal["NonFungible", "NonTransfer", "NonCritical", "Any"] | None,
        about("type of proxy to insist on, where the wallet's key has several"),
    ] = None
    cache: Annotated[Path, about("bittensor: folder for the runtime's description")] = Path("bittensor-cache")


class StoreSection(SettingsSection):
    """Where the journal is kept."""

    url: Annotated[str, about("a database URL")] = "sqlite:///weighbeam.db"
    artifacts: Annotated[str, about("where heatmaps are stored: a folder, or s3://BUCKET/PREFIX")] = "artifacts"


class WeighInSection(SettingsSection):
    """The four numbers an operator may choose; each has a variable of its own, such as WEIGHBEAM_EMA_ALPHA."""

    ema_alpha: Annotated[float, about("weight of the newest emission in the average")] = 0.3
    ema_lookback_hours: Annotated[float, about("hours that emissions count")] = 24.0
    db_retention_hours: Annotated[float, about("hours that rounds are kept; at least twice the lookback")] = 48.0
    db_cleanup_interval_hours: Annotated[float, about("hours between removals of older rounds")] = 24.0


class ValidatorSection(SettingsSection):
    """How this validator asks, and how it is watched."""

    known_validators: Annotated[str | None, about("file or URL of the list of known validators")] = None
    endpoints: Annotated[tuple[str, ...], about("sources of endpoints, first match wins: static, chain, plug-ins")] = (
        "chain",
    )
    endpoints_file: Annotated[Path | None, about("the file of the source static: {hotkey: url}")] = None
    dialect: Annotated[str, about("dialect for miners whose endpoint names none")] = "btauth/1"
    replies: Annotated[Literal["required", "preferred"], about("require signed replies")] = "required"
    parallel: Annotated[int, about("maximum number of requests in flight", ge=1, le=1024)] = 64
    rounds: Annotated[
        Literal["own", "observers"], about("where rounds run: in the validator itself, or in observers beside it")
    ] = "own"
    observer_rounds: Annotated[int, about("concurrent rounds of one observer, per mechanism", ge=1, le=256)] = 4
    allow_private_addresses: Annotated[bool, about("ask miners on private and loopback addresses")] = False
    require_permit: Annotated[
        bool, about("ask miners only while this hotkey holds a validator permit; false where miners need none")
    ] = True
    probes: Annotated[tuple[str, ...], about("host:port to probe if no miner can be reached")] = ()
    standby: Annotated[
        bool, about("wait until the validator that uses this store and hotkey is gone, then take over")
    ] = False
    standby_blocks: Annotated[
        int, about("blocks without a lock and without weights of the hotkey before a standby takes over", ge=1)
    ] = 40
    listen: Annotated[str | None, about("host:port of the dashboard, /health and /metrics; empty for none")] = (
        "127.0.0.1:9090"
    )
    patience_seconds: Annotated[float, about("seconds without progress after which the process ends", ge=60)] = 1800.0
    embedder: Annotated[str, about("the embedder, as in weighbeam score --embedder")] = "minilm-fp32"
    pages: Annotated[str, about("where pages are read: live, archive:PLACE, or embedded for sample pages")] = "live"
    rendering: Annotated[Literal["off", "on"], about("whether live pages are rendered in a confined browser")] = "off"
    browser: Annotated[str, about("the browser that renders pages: a Chromium, by name or path")] = "chromium"
    user_agent: Annotated[
        str | None,
        about("User-Agent of page requests; weighbeam/VERSION if not given", pattern=r"^[!-~]([ -~]{0,198}[!-~])?$"),
    ] = None
    robots: Annotated[Literal["ignore", "respect"], about("whether robots.txt of the pages' hosts is respected")] = (
        "ignore"
    )
    lists: Annotated[Path | None, about("folder of the blacklist and the approved list of evidence")] = None
    lists_key: Annotated[str | None, about("signer required for every list: an ss58 address, or ed25519:ADDRESS")] = (
        None
    )
    second_read_seconds: Annotated[
        float | None, about("seconds after which pages are read a second time; unset: never", ge=0, le=60)
    ] = None
    second_address: Annotated[str | None, about("local address from which second reads are sent")] = None
    made_for_task: Annotated[bool, about("refuse evidence from pages that say they are younger than the task")] = False
    entailment: Annotated[str, about("the entailment model: nli-minilm or hf:MODEL")] = "nli-minilm"
    assessor: Annotated[str | None, about("a second opinion that may reject snippets: openai:MODEL@URL")] = None
    narrator: Annotated[str, about("the narrator of rounds: deterministic, or openai:MODEL@URL")] = "deterministic"
    copies_url: Annotated[str | None, about("where records of copied answers are sent, if anywhere")] = None
    copies_token: Annotated[SecretStr | None, about("bearer token sent to it")] = None


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
        float, about("seconds without finished work after which this machine does it itself", ge=5, le=120)
    ] = 30.0


class MechanismSection(SettingsSection):
    """One mechanism to run."""

    mechid: Annotated[int, about("its mechanism id on chain", ge=0, le=15)] = 0
    tasks: Annotated[str, about("generated, folder:DIR, or file:PATH with a task per line")] = "generated"
    version_key: Annotated[int, about("version key of the weights; the chain may require one", ge=0)] = 0
    burn_hotkey: Annotated[
        str | None, about("hotkey that receives a burnt share; must belong to the subnet's owner")
    ] = None
    params: Annotated[
        dict[str, Any], about("parameters other than the defaults; only from the file, and only with override_params")
    ] = Field(default_factory=dict)
    preset: Annotated[
        str | None, about("named parameters, such as seed: the literal formulas; only with override_params")
    ] = None
    override_params: Annotated[
        bool, about("accept params and preset; scores and weights then differ from those of other validators")
    ] = False

    @property
    def given_params(self) -> dict[str, Any]:
        """Parameters from the file, in the form that `make_params` takes."""
        return ({} if self.preset is None else {"preset": self.preset}) | self.params


class ChallengesSection(SettingsSection):
    """Questions of another program: pushed to validator.listen, or pulled by us; results go back by themselves."""

    mechanism: Annotated[str, about("the mechanism that answers them")] = CHALLENGED_MECHANISM
    callers: Annotated[tuple[str, ...], about("hotkeys that may push signed challenges")] = ()
    per_minute: Annotated[float, about("maximum pushes per caller and minute", gt=0)] = 60.0
    nonces: Annotated[Path, about("file of the nonces seen in signed challenges")] = Path("challenge-nonces.sqlite")
    pull: Annotated[str | None, about("base URL: GET URL/challenges/next is asked on the interval")] = None
    interval_seconds: Annotated[float, about("seconds between two requests", ge=1)] = 300.0
    callback: Annotated[str | None, about("URL that results are posted to")] = None
    token: Annotated[SecretStr | None, about("bearer token sent to pull and callback")] = None


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
    public: Annotated[bool, about("everyone who reaches it may read without a token; on loopback anyone may")] = False
    origins: Annotated[
        tuple[str, ...], about("sites whose pages may call the API from a browser; none by default")
    ] = ()
    per_minute: Annotated[
        float,
        about("calls per minute of each token without a rate of its own, and of each address without a token", gt=0),
    ] = 600.0
    streams: Annotated[int, about("maximum live streams open at once", ge=1, le=10_000)] = 200
    journals: Annotated[
        tuple[str, ...], about("files of other validators' journals, which the dashboard compares with ours")
    ] = ()


class SignedApiSection(SettingsSection):
    """Callers that may sign calls to a mechanism's API: the mechanism's own section extends this one."""

    callers: Annotated[tuple[str, ...], about("hotkeys that may sign calls, each for itself")] = ()
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
    allow: Annotated[tuple[str, ...], about("hotkeys that are always answered")] = ()
    deny: Annotated[tuple[str, ...], about("hotkeys that are never answered")] = ()
    require_permit: Annotated[bool, about("answer only hotkeys with a validator permit")] = True
    min_stake_rao: Annotated[int, about("answer only hotkeys with this stake", ge=0)] = 0
    per_minute: Annotated[float, about("maximum requests per sender and minute", gt=0)] = 60.0
    max_tasks: Annotated[int, about("maximum tasks at once", ge=1)] = 8


class AlertsSection(SettingsSection):
    """Notifications of alerts, in addition to the log, the store and the dashboard."""

    urls: Annotated[
        tuple[SecretStr, ...],
        about("destinations such as discord://…, tgram://…, slack://…, mailto://…, in apprise's form"),
    ] = ()
    level: Annotated[Literal["info", "warning", "critical"], about("lowest level that is sent")] = "warning"
    repeat_hours: Annotated[float, about("hours after which an open alert is sent again", gt=0)] = 24.0
    quiet_hours: Annotated[float, about("hours without a repetition after which an alert counts as over", gt=0)] = 3.0


class WandbSection(SettingsSection):
    """Experiment logging with Weights & Biases; needs the extra `wandb`, and no weight ever waits for it."""

    project: Annotated[str | None, about("the project; unset: nothing is logged")] = None
    entity: Annotated[str | None, about("the team or user it belongs to")] = None
    mode: Annotated[Literal["offline", "online"], about("offline writes a folder that can be synced later")] = "offline"
    folder: Annotated[Path, about("folder of its files")] = Path("wandb-runs")


class LogSection(SettingsSection):
    """Level and format of the log."""

    level: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], about("lowest level shown")] = "INFO"
    format: Annotated[Literal["text", "json"], about("text for people, json for programs")] = "text"
