"""A picture that was drawn: notebooks show it, and it can be saved."""

from __future__ import annotations

import base64
import html
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trellis.errors import ResourceError
from trellis.plots.chart import Spec
from trellis.plots.files import check_target, page_of, png_of, write

__all__ = ["Picture", "drawn"]


class Picture:
    """What `trellis.plot` and `trellis.plot_plan` give: a notebook draws it where a cell ends with it.

    Attributes
    ----------
    spec : dict
        The picture as a Vega-Lite specification.
    path : Path or None
        The file that it was saved to last, if any. Where a path is wanted (`open(picture)`), the picture stands for it.

    Examples
    --------
    >>> import pandas as pd
    >>> from trellis.plots import plot
    >>> days = pd.DataFrame({"day": range(8), "price": [5.0, 4, 3, 2, 3, 4, 5, 5]})
    >>> picture = plot(pd.DataFrame({"start": [0], "end": [6]}), days, x="day", y="price")
    >>> picture
    <Picture: 1 match. Save it: .save("matches.html")>
    >>> picture.save("dip.svg").name
    'dip.svg'
    >>> print(picture)
    dip.svg
    """

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.path: Path | None = None

    def save(self, path: str | os.PathLike[str] = "matches.html") -> Path:
        """Write the picture to a file, and give its path.

        Parameters
        ----------
        path : str or path
            Its suffix says what: `.html`, `.png`, `.svg`, or `.json` for the Vega-Lite specification.

        Returns
        -------
        Path
            The file that was written.

        Raises
        ------
        UnsupportedError
            The path has another suffix.
        ResourceError
            The package for drawing is missing.
        """
        self.path = write(self.spec, check_target(path))
        return self.path

    def __fspath__(self) -> str:
        if self.path is None:
            raise TypeError('The picture is in no file yet. Save it: picture.save("matches.html").')
        return os.fspath(self.path)

    def __str__(self) -> str:
        return repr(self) if self.path is None else str(self.path)

    def __repr__(self) -> str:
        title = self.spec["title"]
        words = ": ".join(part for part in (title["text"].strip(), title["subtitle"]) if part) or "nothing"
        where = 'Save it: .save("matches.html")' if self.path is None else f"In {self.path}"
        return f"<Picture: {words}. {where}>"

    def _repr_html_(self) -> str:
        return _framed(self.spec, png_of(self.spec))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """As a page where pages are shown, else as pixels, else as words."""
        del include, exclude  # IPython filters, too
        try:
            png = png_of(self.spec)
        except ResourceError as error:
            return {"text/plain": f"{self!r}\n{error}"}
        return {
            "text/html": _framed(self.spec, png),
            "image/png": base64.b64encode(png).decode("ascii"),
            "text/plain": repr(self),
        }


def drawn(draw: Callable[[], Spec], path: str | os.PathLike[str] | None) -> Picture:
    """The picture, saved if there is a path; a path that says no format is refused before anything is drawn."""
    if path is not None:
        check_target(path)
    picture = Picture(draw())
    if path is not None:
        picture.save(path)
    return picture


def _framed(spec: Spec, png: bytes) -> str:
    """The page in a frame of its own, as high as the picture: so it disturbs no other picture of the notebook."""
    width, height = (number // 2 for number in struct.unpack(">II", png[16:24]))  # drawn at twice the size
    page = html.escape(page_of(spec), quote=True)
    style = f"width:100%;min-width:{width + 20}px;height:{height + 30}px;border:0"
    return f'<iframe srcdoc="{page}" style="{style}" title="{html.escape(repr(spec["title"]["text"]))}"></iframe>'
