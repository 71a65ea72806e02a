"""A broker of Kafka: one node without ZooKeeper, bound to loopback, its data in a folder that goes with it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from brokers.jars import Missing, broker_jars
from trellis.java import java_problem

START_SECONDS = 120
STOP_SECONDS = 30

# One node is broker and controller. Topics of its own have one copy, since there is nobody for a second one; new
# topics are made when somebody writes to them, with more partitions than one, so that keys part ways.
CONFIG = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={folder}/data
num.partitions=3
auto.create.topics.enable=true
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
"""
CLUSTER = "dHJlbGxpcy1icm9rZXIxMg"  # sixteen bytes in base64; any will do


def java() -> str:
    """The `java` that Spark runs on, which is new enough for Kafka."""
    problem = java_problem()
    if problem is not None:
        raise Missing(problem)
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else str(shutil.which("java"))


@contextmanager
def running() -> Iterator[str]:
    """A broker for the body of a `with`, as the address that clients need. It is stopped however the body ends."""
    program = [java(), "-Xmx512m", "-cp", os.pathsep.join(map(str, broker_jars()))]
    with tempfile.TemporaryDirectory(prefix="kafka-") as scratch:
        folder, (port, controller) = Path(scratch), free_ports(2)
        config, log = folder / "server.properties", folder / "server.log"
        config.write_text(CONFIG.format(port=port, controller=controller, folder=folder), encoding="utf-8")
        form = [*program, "kafka.tools.StorageTool", "format", "--cluster-id", CLUSTER, "--config", str(config)]
        subprocess.run(form, check=True, capture_output=True, cwd=folder)
        with open(log, "wb") as said:
            # Its own session: Ctrl-C reaches this process alone, which then stops the broker.
            process = subprocess.Popen(
                [*program, "kafka.Kafka", str(config)],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
        try:
            await_start(process, port, log)
            yield f"127.0.0.1:{port}"
        finally:
            stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, all different."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def await_start(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until the broker listens; clients wait for the rest by themselves."""
    until = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.2)
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    raise RuntimeError(f"Kafka did not start within {START_SECONDS} s; its log ends\n" + "\n".join(lines[-20:]))
