"""Write the made-up samples `sensors`, `accesses` and `repairs`: readings, a log of a site, and the log of a workshop.

Run it from the root of the repository with `python tools/make_logs.py`. The seeds are fixed, so the rows stay the same.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

FOLDER = Path("src/trellis/samples")
TIME = pa.timestamp("us")
USERS = 40
JOBS = 500
TECHNICIANS = ("Ada", "Ben", "Cleo", "Dan", "Eva")


def sensors() -> list[tuple[Any, ...]]:
    """Temperatures of six rooms, every ten minutes for ten days; some readings are lost, some sensors get stuck."""
    draw = random.Random(7)
    rows = []
    start = datetime(2024, 5, 6)
    for number in range(1, 7):
        base, swing, drift = draw.uniform(17, 22), draw.uniform(1.5, 3), 0.0
        stuck, lost, value = 0, 0, 0.0
        for step in range(10 * 24 * 6):
            ts = start + timedelta(minutes=10 * step)
            drift = 0.97 * drift + draw.gauss(0, 0.12)
            if stuck:
                stuck -= 1
            else:
                day = math.sin(2 * math.pi * (step / 144 - 0.35))
                value = round(base + swing * day + drift + draw.gauss(0, 0.05), 1)
                if draw.random() < 0.001:
                    stuck = draw.randint(12, 60)
            if lost:
                lost -= 1
                continue
            if draw.random() < 0.002:
                lost = draw.choice((1, 1, 2, 5, 20))
            rows.append((f"room {number}", ts, value))
    return rows


def accesses() -> list[tuple[Any, ...]]:
    """What the users of a site did in two weeks; in between somebody guesses passwords."""
    draw = random.Random(11)
    rows: list[tuple[Any, ...]] = []
    for number in range(1, USERS + 1):
        user = f"u{number:02}"
        now = datetime(2024, 5, 6) + timedelta(minutes=draw.randint(0, 2000))
        end = datetime(2024, 5, 20)
        while now < end:
            for _ in range(draw.choices((0, 1, 2), (85, 12, 3))[0]):
                rows.append((user, now, "login_failed"))
                now += timedelta(seconds=draw.randint(4, 40))
            if draw.random() < 0.02:  # guesses: many in little time, and now and then one is right
                for _ in range(draw.randint(6, 30)):
                    rows.append((user, now, "login_failed"))
                    now += timedelta(seconds=draw.randint(1, 5))
                if draw.random() < 0.6:
                    now += timedelta(minutes=draw.randint(90, 900))
                    continue
            rows.append((user, now, "login"))
            for _ in range(draw.randint(1, 8)):
                now += timedelta(seconds=int(draw.expovariate(1 / 240)) + 5)
                rows.append((user, now, draw.choices(("view", "download", "upload"), (7, 2, 1))[0]))
            if draw.random() < 0.5:
                now += timedelta(seconds=draw.randint(5, 200))
                rows.append((user, now, "logout"))
            now += timedelta(minutes=draw.randint(45, 3500))
    return rows


def repairs() -> list[tuple[Any, ...]]:
    """The jobs of a workshop: some repairs fail their test and are done again, some jobs wait for parts."""
    draw = random.Random(13)
    rows: list[tuple[Any, ...]] = []
    start = datetime(2024, 3, 4, 8)
    for job in range(1, JOBS + 1):
        start += timedelta(minutes=draw.randint(5, 150))
        now, step = start, 0

        def done(activity: str, longest: int, by: str | None = None) -> None:
            nonlocal now, step
            step += 1
            rows.append((job, step, now, activity, by))  # noqa: B023  # called in this turn alone
            now += timedelta(minutes=draw.randint(10, longest))

        done("receive", 300)
        done("diagnose", 240, draw.choice(TECHNICIANS))
        if draw.random() < 0.1:
            done("give up", 60)
            done("send back", 60)
            continue
        technician = draw.choice(TECHNICIANS)
        while True:
            if draw.random() < 0.2:
                done("wait for parts", 4000)
            done("repair", 300, technician)
            if draw.random() < (0.35 if technician == "Dan" else 0.12):
                done("test failed", 120, draw.choice(TECHNICIANS))
                continue
            done("test passed", 120, draw.choice(TECHNICIANS))
            break
        done("send back", 60)
    return rows


def write(name: str, columns: Sequence[tuple[str, pa.DataType]], rows: list[tuple[Any, ...]]) -> None:
    arrays = [pa.array(values, kind) for values, (_, kind) in zip(zip(*rows, strict=True), columns, strict=True)]
    table = pa.Table.from_arrays(arrays, [column for column, _ in columns])
    pq.write_table(table, FOLDER / f"{name}.parquet", compression="zstd", compression_level=19)
    print(f"{name}: {table.num_rows} rows, {(FOLDER / f'{name}.parquet').stat().st_size / 1e3:.0f} KB")


if __name__ == "__main__":
    write("sensors", [("sensor", pa.string()), ("ts", TIME), ("value", pa.float64())], sensors())
    write("accesses", [("user", pa.string()), ("ts", TIME), ("action", pa.string())], sorted(accesses()))
    types = [pa.int32(), pa.int32(), TIME, pa.string(), pa.string()]
    names = ("job", "step", "ts", "activity", "technician")
    write("repairs", list(zip(names, types, strict=True)), repairs())
