"""Artifacts in any S3-compatible store (extra `weighbeam[s3]`).

Keys come from `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN` and from nowhere else: a URL is
logged and shown, and looking for keys on the network would make a wrong setting a long wait.
"""

import ipaddress
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from weighbeam.core.errors import WeighbeamError
from weighbeam.store.artifacts import NAME, check_name

if TYPE_CHECKING:
    from obstore.store import S3Config, S3Store

SECONDS = 20.0
CONNECT_SECONDS = 5.0
RETRIES = 2
FORM = "write s3://bucket/prefix?endpoint=https://host&region=name"
MAX_TOLD = 300


@dataclass(frozen=True, slots=True)
class S3Place:
    """Place that a URL names. The endpoint defaults to `AWS_ENDPOINT_URL`, then to Amazon's."""

    bucket: str
    prefix: str
    region: str
    endpoint: str | None = None

    @property
    def plain(self) -> bool:
        return self.endpoint is not None and self.endpoint.startswith("http://")

    def name(self, name: str) -> str:
        return "/".join(part for part in (f"s3://{self.bucket}", self.prefix, name) if part)


def parse_s3_url(url: str) -> S3Place:
    """
    >>> parse_s3_url("s3://pictures/net-1?region=eu-central-1").name("heatmaps/r.png")
    's3://pictures/net-1/heatmaps/r.png'
    """
    try:
        parts = urlsplit(url)
        options = parse_qs(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise _refuse("the URL cannot be read", FORM) from None
    if "@" in parts.netloc:
        raise _refuse("credentials do not belong in the URL", "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    unknown = sorted(set(options) - {"endpoint", "region", "allow_http"})
    if unknown or any(len(values) != 1 for values in options.values()):
        raise _refuse("it has options that are unknown or given twice", FORM)
    given = {name: values[0] for name, values in options.items()}
    prefix = parts.path.strip("/")
    if not parts.netloc or ":" in parts.netloc or parts.fragment or (prefix and not NAME.fullmatch(prefix)):
        raise _refuse("its bucket or prefix is not a valid name", FORM)
    region = given.get("region") or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
    if "endpoint" in given:
        _check_endpoint(given["endpoint"], allow_http=given.get("allow_http") == "true")
    return S3Place(parts.netloc, prefix, region, given.get("endpoint"))


class S3Artifacts:
    """Objects below a prefix. A request ends within `seconds`, and is tried at most three times."""

    def __init__(self, place: S3Place, seconds: float = SECONDS) -> None:
        self.place = place
        self._store = _connect(place, seconds)

    def put(self, name: str, data: bytes, kind: str) -> str:
        with _wrap_faults(self.place, name):
            self._store.put(check_name(name), data, attributes={"Content-Type": kind})
        return self.place.name(name)

    def get(self, name: str) -> bytes:
        with _wrap_faults(self.place, name, reading=True):
            return bytes(self._store.get(check_name(name)).bytes())

    def has(self, name: str) -> bool:
        """Whether the object exists; False also if the bucket is missing."""
        try:
            with _wrap_faults(self.place, name, reading=True):
                self._store.head(check_name(name))
        except WeighbeamError as fault:
            if fault.code != "no_such_artifact":
                raise
            return False
        return True

    def remove(self, name: str) -> None:
        try:
            with _wrap_faults(self.place, name, reading=True):
                self._store.delete(check_name(name))
        except WeighbeamError as fault:
            if fault.code != "no_such_artifact":
                raise

    def list(self, prefix: str = "") -> tuple[str, ...]:
        with _wrap_faults(self.place, prefix):
            below = check_name(prefix) if prefix else None
            found = [meta["path"] for chunk in self._store.list(below) for meta in chunk]
        return tuple(sorted(name for name in found if NAME.fullmatch(name)))


def _connect(place: S3Place, seconds: float) -> "S3Store":
    try:
        from obstore.store import S3Store
    except ImportError:
        raise WeighbeamError("no_s3", "the S3 client is not installed", "pip install 'weighbeam[s3]'") from None
    whole, connecting = timedelta(seconds=seconds), timedelta(seconds=min(seconds, CONNECT_SECONDS))
    return S3Store(
        place.bucket,
        prefix=place.prefix or None,
        config=_configure(place),
        client_options={"allow_http": place.plain, "timeout": whole, "connect_timeout": connecting},
        retry_config={"max_retries": RETRIES, "retry_timeout": (1 + RETRIES) * whole},
    )


def _configure(place: S3Place) -> "S3Config":
    """Set every option explicitly; missing ones would be looked up in the environment and on the network."""
    key, secret, token = (
        os.environ.get(f"AWS_{name}") for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN")
    )
    if not key or not secret:
        raise WeighbeamError(
            "artifact_fault",
            "credentials for the S3 store are missing",
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment",
        )
    config: S3Config = {
        "access_key_id": key,
        "secret_access_key": secret,
        "region": place.region,
        "skip_signature": False,
    }
    if token:
        config["session_token"] = token
    if place.endpoint is not None:
        config["endpoint"] = config["aws_endpoint_url_s3"] = place.endpoint
    return config


def _check_endpoint(endpoint: str, allow_http: bool) -> None:
    parts = urlsplit(endpoint)
    if not parts.hostname or "@" in parts.netloc or parts.query or parts.fragment or parts.path not in ("", "/"):
        raise _refuse("its endpoint is not of the form https://host or https://host:port", FORM)
    if parts.scheme == "http" and not (allow_http and _is_loopback(parts.hostname)):
        raise _refuse(
            "its endpoint is not encrypted", "use https://, or on this machine http://127.0.0.1:port&allow_http=true"
        )
    if parts.scheme not in ("http", "https"):
        raise _refuse("its endpoint is neither https:// nor http://", FORM)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@contextmanager
def _wrap_faults(place: S3Place, name: str, reading: bool = False) -> Iterator[None]:
    from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

    try:
        yield
    except FileNotFoundError as fault:
        if reading and "NoSuchBucket" not in str(fault):
            raise WeighbeamError(
                "no_such_artifact", f"there is no {place.name(name)}", "it was never drawn, or it was removed"
            ) from None
        raise _fault(place, name, "the bucket does not exist", "create it, or correct the URL") from None
    except (PermissionDeniedError, UnauthenticatedError):
        raise _fault(
            place, name, "the store refused the credentials", "check the AWS_* keys and their permissions"
        ) from None
    except BaseError as fault:
        if "NoSuchBucket" in str(fault):
            raise _fault(place, name, "the bucket does not exist", "create it, or correct the URL") from None
        said = re.split(r"\n|: <\?xml", str(fault))[0][:MAX_TOLD]
        raise _fault(place, name, said, "check that the endpoint is reachable and works") from None


def _fault(place: S3Place, name: str, said: str, remedy: str) -> WeighbeamError:
    return WeighbeamError("artifact_fault", f"{place.name(name)}: {said}", remedy)


def _refuse(why: str, remedy: str) -> WeighbeamError:
    """Make the error without the URL, which may hold a secret."""
    return WeighbeamError("bad_artifacts_url", f"this S3 URL cannot be used: {why}", remedy)
