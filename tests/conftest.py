"""What all tests share: which of them run, how many examples Hypothesis draws, and one lazy Spark session.

`pytest` alone starts no JVM. `--spark` adds the tests that need one, `--slow` those that take long, and `--connect`
runs the tests marked `connect` on Spark Connect instead of the classic session (one process cannot hold both).
`--thorough` runs the tests marked `thorough` alone: they take minutes, and a larger session. Both together run all
tests of Spark Connect, with those marked `connect(thorough=True)`. Without these two, an explicit `-m` expression
overrides all of that.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import hypothesis
import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# ---- Hypothesis: `default` draws the same examples in every run, so that a red run is a red change. It shows the
# first failing example as drawn: `minimise` runs the same ones and makes it small, which takes minutes. ----

_DRAWN = [hypothesis.Phase.explicit, hypothesis.Phase.reuse, hypothesis.Phase.generate]
hypothesis.settings.register_profile("default", max_examples=60, deadline=None, derandomize=True, phases=_DRAWN)
hypothesis.settings.register_profile("few", max_examples=20, deadline=None, derandomize=True, phases=_DRAWN)
hypothesis.settings.register_profile("minimise", max_examples=60, deadline=None, derandomize=True)
hypothesis.settings.register_profile("thorough", max_examples=2_000, deadline=None, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("TRELLIS_PROFILE", "default"))


def pytest_report_header(config: pytest.Config) -> str:
    profile = config.getoption("--hypothesis-profile", None) or os.environ.get("TRELLIS_PROFILE", "default")
    limit = hypothesis.settings.get_profile(profile).max_examples
    jit = "off" if os.environ.get("NUMBA_DISABLE_JIT") == "1" else "on"
    session = "Spark Connect" if config.getoption("--connect") else "classic Spark"
    return f"trellis: {session}, JIT {jit}, at most {limit} examples for each property (profile {profile})"


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Note how many examples a property test drew; the note also travels from xdist's workers."""
    report = yield
    if report.when == "teardown":
        drawn = sum(int(n) for n in re.findall(r"(\d+) passing", getattr(item, "hypothesis_statistics", "")))
        if drawn:
            report.user_properties.append(("examples", drawn))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    drawn = [
        value
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", [])
        if name == "examples" and report.when == "teardown"
    ]
    if drawn:
        terminalreporter.write_line(f"{sum(drawn)} examples drawn by {len(drawn)} property tests")


# ---- which tests run ----


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        # Compiled integers wrap silently, as hashing wants; numpy's scalars, which stand in for them, warn.
        config.addinivalue_line("filterwarnings", "ignore:overflow encountered in scalar:RuntimeWarning")
        # So do divisions: kernels throw the quotient away where the divisor is zero.
        config.addinivalue_line("filterwarnings", "ignore:divide by zero encountered in scalar:RuntimeWarning")
        config.addinivalue_line("filterwarnings", "ignore:invalid value encountered in scalar:RuntimeWarning")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("trellis")
    group.addoption("--spark", action="store_true", help="also run the tests that start a JVM")
    group.addoption("--slow", action="store_true", help="also run the tests that take long")
    group.addoption("--connect", action="store_true", help="run the tests marked `connect`, on Spark Connect")
    group.addoption("--thorough", action="store_true", help="run the tests marked `thorough`, which take minutes")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        needs_session = "spark" in getattr(item, "fixturenames", ())
        if needs_session or any(item.get_closest_marker(mark) for mark in ("streaming", "connect")):
            item.add_marker("spark")
    connect, thorough = config.getoption("--connect"), config.getoption("--thorough")
    if not connect and not thorough and config.getoption("markexpr"):
        return

    def wanted(item: pytest.Item) -> bool:
        marks = {mark.name for mark in item.iter_markers()}
        if connect:
            mark = item.get_closest_marker("connect")
            return mark is not None and (thorough or not ("thorough" in marks or mark.kwargs.get("thorough")))
        if thorough or "thorough" in marks:
            return thorough and "thorough" in marks
        if "slow" in marks and not config.getoption("--slow"):
            return False
        return "spark" not in marks or config.getoption("--spark")

    deselected = [item for item in items if not wanted(item)]
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        items[:] = [item for item in items if wanted(item)]


# ---- the session ----


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One small local session, classic or (with --connect) Spark Connect; the first test that asks for it starts it."""
    from trellis.java import require_java

    require_java()
    scratch = tmp_path_factory.mktemp("spark")
    # Settings of the JVM go through the environment: a Connect client may not set them on a running server.
    static = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.python.daemon.module": "trellis.spark.daemon",  # a worker that failed costs no two seconds
        "spark.local.dir": str(scratch / "local"),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if request.config.getoption("--connect"):
        # A run of two minutes is over before the optimizing compiler has paid for itself; a longer one needs it.
        static["spark.driver.extraJavaOptions"] = "-XX:TieredStopAtLevel=1"
    arguments = " ".join(f"--conf {name}={value}" for name, value in static.items())
    environment = {
        "PYSPARK_SUBMIT_ARGS": f"{arguments} pyspark-shell",
        "PYSPARK_PYTHON": sys.executable,  # workers must see the same packages as the driver
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.delenv("SPARK_REMOTE", raising=False)
        session = _start(request.config)
        yield session
        session.stop()  # in Connect's local mode this stops the server too


def _start(config: pytest.Config) -> SparkSession:
    from pyspark.sql import SparkSession

    # Queries harm each other only where tasks of several run at once.
    master = "local[8]" if config.getoption("--thorough") else "local[2]"
    builder = (
        SparkSession.builder.remote(master) if config.getoption("--connect") else SparkSession.builder.master(master)
    )
    return builder.config("spark.sql.shuffle.partitions", "2").config("spark.sql.session.timeZone", "UTC").getOrCreate()
