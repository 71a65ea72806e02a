"""Kafka's broker and Spark's connector to it: fetched once from Maven Central, kept in a folder of the checkout."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

BROKER = "org.apache.kafka:kafka_2.13:4.1.1"  # runs on Java 17, as Spark does
CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13"
TOKENS = "org.apache.spark:spark-token-provider-kafka-0-10_2.13"
# Not every release of Spark has all of its connector on Maven Central. These two parts serve Spark 4.3, too.
OTHERWISE = (f"{CONNECTOR}:4.2.0", f"{TOKENS}:4.0.0")
IN_NO_SPARK = ("spark-sql-kafka", "spark-token-provider-kafka", "kafka-clients", "commons-pool2")
CACHE = Path(__file__).resolve().parents[2] / ".kafka"

# Spark's own project file names a mirror of Maven Central, which is asked first. Where that mirror is blocked, so is
# Maven. A repository of the same name that holds nothing stands in its place.
POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>trellis</groupId>
  <artifactId>jars</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <repositories>
    <repository>
      <id>gcs-maven-central-mirror</id>
      <url>file:///nowhere</url>
      <releases><enabled>false</enabled></releases>
      <snapshots><enabled>false</enabled></snapshots>
    </repository>
  </repositories>
  <dependencies>
{dependencies}
  </dependencies>
</project>
"""
DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"


class Missing(Exception):
    """Something that the broker needs is not there; the message is one sentence."""


def broker_jars() -> list[Path]:
    """The broker and all that it needs to run."""
    return fetch(BROKER)


def connector_jars(version: str) -> list[Path]:
    """What a Spark of this version lacks to speak with Kafka: its own connector, or else one that serves it."""
    try:
        jars = fetch(f"{CONNECTOR}:{version}")
    except Missing:
        jars = fetch(*OTHERWISE)
    return [jar for jar in jars if jar.name.startswith(IN_NO_SPARK)]


def fetch(*artifacts: str) -> list[Path]:
    """The jars of some artifacts and of what they need at run time, downloaded if they are not there."""
    folder = CACHE / "-".join(artifact.replace(":", "-") for artifact in artifacts)
    if not folder.is_dir():
        maven = shutil.which("mvn")
        if maven is None:
            raise Missing(f"{artifacts[0]} is fetched by Maven, and there is no `mvn` on the PATH.")
        CACHE.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            download(maven, artifacts, Path(scratch))
            # In one step, so that a broken run leaves no half of a folder.
            (Path(scratch) / "jars").rename(folder)
    return sorted(folder.glob("*.jar"))


def download(maven: str, artifacts: Sequence[str], scratch: Path) -> None:
    """Let Maven copy the jars into a folder `jars` below this one."""
    pom = scratch / "pom.xml"
    listed = "\n".join(DEPENDENCY.format(*map(escape, artifact.split(":"))) for artifact in artifacts)
    pom.write_text(POM.format(dependencies=listed), encoding="utf-8")
    goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
    options = ["-DincludeScope=runtime", f"-DoutputDirectory={scratch / 'jars'}"]
    done = subprocess.run([maven, "-B", "-q", "-f", str(pom), goal, *options], capture_output=True, text=True)
    if done.returncode or not (scratch / "jars").is_dir():
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line]
        said = lines[0] if lines else done.stdout
        raise Missing(f"Maven could not fetch {artifacts[0]} from Maven Central: {said}")
