"""The recorded metadata, with the one storage entry that the SDK reads and the recording lacks."""

from functools import cache

from bittensor._transport.codec import RuntimeCodec, strip_option_opaque_metadata

from loopnode.golden import load_golden

PALLET, ENTRY = "SubtensorModule", "SubnetEpochConsensus"
DEFAULT_MODIFIER, MAP, IDENTITY = b"\x01", b"\x01", b"\x06"


@cache
def load_metadata(with_consensus: bool = True) -> bytes:
    """Raw `MetadataVersioned` bytes."""
    recorded = strip_option_opaque_metadata(bytes.fromhex(load_golden()["metadata"]["v15_hex"].removeprefix("0x")))
    assert recorded is not None
    return _insert(recorded) if with_consensus else recorded


@cache
def load_codec(spec_version: int, with_consensus: bool = True) -> RuntimeCodec:
    network = load_golden()["network"]
    versions = {"spec_version": spec_version, "transaction_version": network["transaction_version"]}
    return RuntimeCodec(load_metadata(with_consensus), **versions)


def wrap_metadata(metadata: bytes) -> bytes:
    """`Option<OpaqueMetadata>`, as the runtime call answers."""
    return b"\x01" + compact(len(metadata)) + metadata


def _insert(metadata: bytes) -> bytes:
    plain = RuntimeCodec(metadata, spec_version=0, transaction_version=0)
    mark = _text(PALLET) + b"\x01" + _text(PALLET)
    at = metadata.index(mark) + len(mark)
    assert metadata.find(mark, at) == -1, "the pallet's storage is found twice"
    count, behind = read_compact(metadata, at)
    types = [plain.type_id_of(name) for name in ("u16", "u8")]
    assert None not in types
    key, value = (compact(number) for number in types if number is not None)
    entry = _text(ENTRY) + DEFAULT_MODIFIER + MAP + compact(1) + IDENTITY + key + value + compact(1) + b"\x00"
    return metadata[:at] + compact(count + 1) + entry + compact(0) + metadata[behind:]


def _text(text: str) -> bytes:
    return compact(len(text)) + text.encode()


def compact(number: int) -> bytes:
    """SCALE's compact form of a number below 2^30."""
    if number < 1 << 6:
        return (number << 2).to_bytes(1, "little")
    if number < 1 << 14:
        return (number << 2 | 1).to_bytes(2, "little")
    return (number << 2 | 2).to_bytes(4, "little")


def read_compact(data: bytes, at: int) -> tuple[int, int]:
    """The number at a place, and where it ends."""
    size = {0: 1, 1: 2, 2: 4}[data[at] & 3]
    return int.from_bytes(data[at : at + size], "little") >> 2, at + size
