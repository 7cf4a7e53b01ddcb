"""A real S3 server, which checks signatures, as a process of its own on a free port of this machine."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KEY, SECRET = "test-key", "test-secret-0123456789"
READY_SECONDS = 90.0


@contextmanager
def serve_s3(folder: Path, port: int | None = None) -> Iterator[str]:
    """The address. Every folder in `folder` is a bucket."""
    port = port or find_port()
    program = Path(sys.executable).with_name("rclone")
    command = [program, "serve", "s3", folder, "--addr", f"127.0.0.1:{port}", "--auth-key", f"{KEY},{SECRET}"]
    with (folder.parent / "server.log").open("wb") as log:
        server = subprocess.Popen([*command, "--config", ""], stdout=log, stderr=log)
    try:
        wait_for(port, server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(10)


def find_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_for(port: int, server: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("the S3 server did not start")
