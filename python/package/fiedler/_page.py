"""Pages to look at."""

from __future__ import annotations

import os
import webbrowser
from html import escape
from pathlib import Path
from typing import Any

from . import _fiedler
from ._augmentation import Augmentation
from ._errors import DataError
from ._finetuning import FinetunedEncoder
from ._progress import Progress, watched
from ._reading import as_dataset


class Page:
    """One HTML page that needs no network and no server. A notebook shows it."""

    def __init__(self, title: str, html: str) -> None:
        self.title = title
        self.html = html

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes the page to a file."""
        place = Path(path)
        with place.open("w" if force else "x", encoding="utf-8") as file:
            file.write(self.html)
        return place

    def _repr_html_(self) -> str:
        # The page has a style and a script of its own, which must not meet those of the notebook.
        return f'<iframe srcdoc="{escape(self.html)}" style="width: 100%; height: 40em; border: 0"></iframe>'

    def __repr__(self) -> str:
        return f"Page({self.title!r}, {len(self.html)} characters)"


def report(
    what: Any,
    /,
    path: str | os.PathLike[str] | None = None,
    *,
    data: str | None = None,
    force: bool = False,
    open: bool = False,
    progress: Progress = False,
) -> Page:
    """Makes a page of an `Embedder`, a fine-tuning with a folder, an `Augmentation`, a graph, a run folder, several run folders side by side, or a file of a scheme.

    Parameters
    ----------
    what
        What the page is of.
    path
        Where it is written, if anywhere.
    data
        The data that a scheme in a file was computed for.
    force
        Whether a file that is there gives way.
    open
        Whether a browser shows the page.

    Examples
    --------
    >>> import fiedler
    >>> fiedler.report("karate").title
    'karate'
    """
    with watched(progress) as told:
        if hasattr(what, "embedding_") and hasattr(what, "_run"):
            if what._run is not None:
                made = _fiedler.page_of_run(what._run, told)
            else:
                made = _fiedler.page_of_paths([os.fspath(what._source)], None, told)
        elif isinstance(what, FinetunedEncoder):
            if what.folder is None:
                raise DataError("the fine-tuning left no folder", hint="give finetune a folder: the page shows the curves of its runs")
            made = _fiedler.page_of_paths([os.fspath(what.folder)], None, told)
        elif isinstance(what, Augmentation):
            made = _fiedler.page_of_scheme(what._fitted(), told)
        elif isinstance(what, (str, os.PathLike)):
            made = _fiedler.page_of_paths([os.fspath(what)], data, told)
        elif isinstance(what, (list, tuple)) and what and all(isinstance(item, (str, os.PathLike)) for item in what):
            made = _fiedler.page_of_paths([os.fspath(item) for item in what], data, told)
        elif hasattr(what, "fit") and hasattr(what, "transform"):
            raise DataError("the embedder has not learned anything yet", hint="call fit(graph) first")
        else:
            made = _fiedler.page_of_dataset(as_dataset(what)._raw, told)
    page = Page(*made)
    if path is not None:
        page.save(path, force=force)
        if open:
            webbrowser.open(Path(path).absolute().as_uri())
    elif open:
        import tempfile

        with tempfile.NamedTemporaryFile("w", suffix=".html", delete=False, encoding="utf-8") as file:
            file.write(page.html)
        webbrowser.open(Path(file.name).as_uri())
    return page
