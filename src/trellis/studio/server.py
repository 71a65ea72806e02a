"""The addresses below the token: the page, what it is made of, and what it asks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from trellis.errors import BindingError, ResourceError, TrellisError
from trellis.studio import answers
from trellis.studio.desk import Desk
from trellis.studio.examples import examples_for
from trellis.studio.failures import failure_of
from trellis.studio.questions import Question
from trellis.studio.runs import Run, Runs

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["Studio", "application", "drawing_library", "failure_told", "missing_packages"]

_SCRIPTS = ("studio", "editor", "results", "why", "words", "asking")
PAGES = {
    "": ("index.html", "text/html"),
    "studio.css": ("studio.css", "text/css"),
    **{
        name: (name, "text/javascript")
        for name in ("studio.js", "editor.js", "results.js", "why.js", "words.js", "asking.js")
    },
    "icon.svg": ("icon.svg", "image/svg+xml"),
}
"""The files of the page, by their addresses."""


@dataclass(slots=True)
class Studio:
    """What the addresses work on. `failure` makes of an exception in a text what the page shows.

    `phase` says what happens at the start; `awake`: tables are counted, and all that a first query needs is loaded.
    """

    desk: Desk
    runs: Runs
    failure: Callable[[BaseException, str], Mapping[str, Any]]
    phase: str = "Spark is starting"
    awake: bool = False


def failure_told(described: Callable[[BaseException], str], error: BaseException, text: str) -> dict[str, Any]:
    """An exception as the page shows it; `described` says what one of Spark or of Python means."""
    if isinstance(error, TrellisError):
        return failure_of(error, text)
    return {"problem": described(error), "cure": "", "place": None}


def missing_packages() -> ResourceError | None:
    """What to say where the packages of the studio are not installed."""
    try:
        import starlette
        import uvicorn
        import vl_convert
    except ImportError as problem:
        return ResourceError(
            f"The studio needs the package {problem.name}, which is not installed.",
            cure="Install it with: pip install 'trellis-spark[studio]'",
        )
    del starlette, uvicorn, vl_convert
    return None


def application(studio: Studio) -> Starlette:
    """All addresses; the guard stands before them."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route

    desk = studio.desk

    def page(request: Request) -> Response:
        name, kind = PAGES.get(request.path_params.get("name", ""), ("", ""))
        return Response(_file(name), media_type=kind) if name else Response("There is nothing here.\n", 404)

    def library(request: Request) -> Response:
        return Response(drawing_library(), media_type="text/javascript")

    def state(request: Request) -> Response:
        tables = [
            {
                "name": table.name,
                "rows": table.rows,
                "shipped": table.shipped,
                "columns": [{"name": name, "type": kind} for name, kind in table.columns],
            }
            for table in desk.tables.values()
        ]
        told = {"ready": desk.is_open, "awake": studio.awake, "phase": studio.phase, "tables": tables}
        return JSONResponse({**told, "examples": examples_for(desk), "sample": desk.sample_rows})

    async def check(request: Request) -> Response:
        question, _ = await _asked(request)
        return JSONResponse(await asyncio.to_thread(_checked, studio, question))

    works = {"run": answers.run, "explain": answers.explain, "why": answers.why}

    async def begin(what: str, request: Request) -> Response:
        question, values = await _asked(request)
        tab, everything = _tab(values), values.get("everything") is True

        def go(run: Run) -> None:
            works[what](desk, question, run.tell, everything=everything)

        run = studio.runs.start(tab, question.text, "all" if everything else "sample", go)
        return StreamingResponse(studio.runs.lines(run), media_type="application/x-ndjson")

    async def cancel(request: Request) -> Response:
        values = await _values(request)
        run = values.get("run")
        return JSONResponse({"cancelled": studio.runs.cancel(_tab(values), run if isinstance(run, str) else None)})

    async def failed(request: Request, error: Exception) -> Response:
        return JSONResponse(studio.failure(error, ""), 400 if isinstance(error, TrellisError) else 500)

    async def nothing(request: Request, error: Exception) -> Response:
        return Response("There is nothing here.\n", getattr(error, "status_code", 404))

    return Starlette(
        routes=[
            Route("/", page),
            Route("/vega.js", library),
            Route("/api/state", state),
            Route("/api/check", check, methods=["POST"]),
            Route("/api/cancel", cancel, methods=["POST"]),
            *(Route(f"/api/{what}", partial(begin, what), methods=["POST"]) for what in works),
            Route("/{name}", page),
        ],
        exception_handlers={HTTPException: nothing, Exception: failed, TrellisError: failed},
    )


def _checked(studio: Studio, question: Question) -> Mapping[str, Any]:
    try:
        return {**answers.check(studio.desk, question), "error": None}
    except Exception as error:
        return {"error": studio.failure(error, question.text)}


async def _asked(request: Request) -> tuple[Question, dict[str, Any]]:
    values = await _values(request)
    return Question.of(values), values


async def _values(request: Request) -> dict[str, Any]:
    try:
        values = await request.json()
    except ValueError:
        raise BindingError("That is no JSON.") from None
    if not isinstance(values, dict):
        raise BindingError("A question is an object.")
    return values


def _tab(values: Mapping[str, Any]) -> str:
    tab = values.get("tab")
    if not isinstance(tab, str) or not 8 <= len(tab) <= 64:
        raise BindingError("A tab has a name of 8 to 64 letters.")
    return tab


@cache
def _file(name: str) -> bytes:
    return files("trellis.studio").joinpath("page", name).read_bytes()


@cache
def drawing_library() -> bytes:
    """The JavaScript that draws, bundled with all that it needs."""
    import vl_convert

    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")).encode()
