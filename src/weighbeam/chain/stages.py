"""The pure stages of docs/spec/chain.md, as vector files call them."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from weighbeam.chain.weight_row import (
    CODES,
    Sender,
    SubnetRules,
    WeightSubmission,
    emit_row,
    refuse_submission,
    upscale_row,
)
from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_integer
from weighbeam.core.yuma.epoch import Row, YumaParams, YumaSubnet, run_epoch

Input = Mapping[str, Any]
U64 = 2**64 - 1
U16 = 65535
FLAGS = ("yuma3", "liquid_alpha")


def yuma_stage(given: Input) -> dict[str, Any]:
    count = len(given["stake"])
    commits = given.get("commit_blocks")
    listed = [given[name] for name in ("weights", "permits", "last_update", "registered_at", "bonds")]
    shaped = all(isinstance(part, list) and len(part) == count for part in [*listed, *([commits] if commits else [])])
    require(shaped, "bad_shape")
    params = _parse_params(given["params"], count)
    _check_values(given, commits)
    subnet = YumaSubnet(
        block=given["block"],
        stake=given["stake"],
        weights=[_parse_row(row) for row in given["weights"]],
        permits=given["permits"],
        last_update=given["last_update"],
        registered_at=given["registered_at"],
        bonds=[_parse_row(row) for row in given["bonds"]],
        last_step_block=given.get("last_step_block"),
        emission=given.get("emission", 0),
        commit_blocks=commits,
    )
    result = asdict(run_epoch(subnet, params))
    result["bonds"] = [[[uid, value] for uid, value in row.items()] for row in result["bonds"]]
    return result


def _parse_params(given: Any, count: int) -> YumaParams:
    names = {field.name for field in fields(YumaParams)}
    require(isinstance(given, dict) and set(given) == names, "bad_value")
    for name, value in given.items():
        if name in FLAGS:
            require(isinstance(value, bool), "bad_value")
        elif name == "owner_uid":
            require(value is None or (is_integer(value, 0) and value < count), "bad_value")
        elif name == "alpha_steepness":
            require(is_integer(value) and -(2**15) <= value < 2**15, "bad_value")
        else:
            require(is_integer(value, 0) and value <= U64, "bad_value")
    return YumaParams(**given)


def _check_values(given: Input, commits: Any) -> None:
    numbers = [*given["stake"], *given["last_update"], *given["registered_at"], given["block"]]
    optional = [given.get("last_step_block"), *(commits or [])]
    numbers += [given.get("emission", 0), *(value for value in optional if value is not None)]
    require(all(is_integer(value, 0) and value <= U64 for value in numbers), "bad_value")
    require(all(isinstance(permit, bool) for permit in given["permits"]), "bad_value")
    for row in [*given["weights"], *given["bonds"]]:
        for entry in row:
            pair = isinstance(entry, list) and len(entry) == 2 and all(is_integer(value, 0) for value in entry)
            require(pair and max(entry) <= U16, "bad_value")


def _parse_row(row: list[list[int]]) -> Row:
    entries: Row = {entry[0]: entry[1] for entry in row}
    require(len(entries) == len(row), "duplicate_uids")
    return entries


def emit_stage(given: Input) -> dict[str, Any]:
    row = emit_row(
        given["uids"],
        given["values"],
        given["n"],
        given.get("min_allowed", 1),
        given.get("max_weight_limit", U16),
        given.get("own_uid"),
    )
    return {"uids": list(row.uids), "values": list(row.values), "dropped": list(row.dropped)}


def store_stage(given: Input) -> dict[str, Any]:
    values = given["values"]
    if not all(is_integer(value, 0) and value <= U16 for value in values):
        raise WeighbeamError("bad_value")
    return {"values": upscale_row(values)}


def check_stage(given: Input) -> dict[str, Any]:
    sent = given["submission"]
    submission = WeightSubmission(sent["mechid"], tuple(sent["uids"]), tuple(sent["values"]), sent["version_key"])
    refusal = refuse_submission(SubnetRules(**given["rules"]), Sender(**given["sender"]), submission)
    stored = None
    if refusal is None:
        values = upscale_row(submission.values)
        stored = [[uid, value] for uid, value in zip(submission.uids, values, strict=True)]
    return {
        "accepted": refusal is None,
        "chain_error": refusal,
        "code": None if refusal is None else CODES[refusal],
        "stored": stored,
    }


STAGES = {
    "chain.yuma": yuma_stage,
    "chain.emit": emit_stage,
    "chain.store": store_stage,
    "chain.check": check_stage,
}
