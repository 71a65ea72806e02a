"""What runs in Flink's own environment: a cluster in one process, and the statements that it is sent.

A line of JSON comes in for each statement, one goes out for each answer. It needs `pyflink`, and nothing of Trellis.
"""

from __future__ import annotations

import json
import sys
from typing import Any

__all__: list[str] = []

_LOOPBACK = "127.0.0.1"
_CLUSTER = {
    "jobmanager.rpc.address": _LOOPBACK,
    "jobmanager.bind-host": _LOOPBACK,
    "taskmanager.host": _LOOPBACK,
    "taskmanager.bind-host": _LOOPBACK,
    "rest.address": _LOOPBACK,
    "rest.bind-address": _LOOPBACK,
    "rest.bind-port": "0",
}
_JOBS = {"execution.target": "remote", "pipeline.object-reuse": "true", "table.local-time-zone": "UTC"}


def main(cores: int) -> None:
    """Start, say so, and answer until the input ends."""
    from pyflink.java_gateway import get_gateway

    flink = get_gateway().jvm.org.apache.flink
    cluster = flink.runtime.minicluster.MiniCluster(
        flink.runtime.minicluster.MiniClusterConfiguration.Builder()
        .setConfiguration(_configuration(flink, _CLUSTER))
        .setNumTaskManagers(1)
        .setNumSlotsPerTaskManager(cores)
        .build()
    )
    cluster.start()
    address = cluster.getRestAddress().get()
    options = {
        **_JOBS,
        "rest.address": address.getHost(),
        "rest.port": str(address.getPort()),
        "parallelism.default": str(cores),
    }
    settings = flink.table.api.EnvironmentSettings.newInstance().inStreamingMode()
    tables = flink.table.api.TableEnvironment.create(settings.withConfiguration(_configuration(flink, options)).build())
    _say({"ready": flink.runtime.util.EnvironmentInformation.getVersion()})
    for line in sys.stdin:
        _say(_answer(tables, json.loads(line)))
    cluster.close()


def _configuration(flink: Any, settings: dict[str, str]) -> Any:
    made = flink.configuration.Configuration()
    for name, value in settings.items():
        made.setString(name, value)
    return made


def _answer(tables: Any, statement: str) -> dict[str, Any]:
    """Run a statement to its end: that it is done, or what was wrong with it."""
    try:
        result = tables.executeSql(statement)
        getattr(result, "await")()
    except Exception as problem:
        return {"problem": str(problem)}
    return {"done": True}


def _say(answer: dict[str, Any]) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
