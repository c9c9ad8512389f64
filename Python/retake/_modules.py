"""What a program has imported from its own folder."""

from __future__ import annotations

import hashlib
import os
import sys
from types import ModuleType
from typing import NamedTuple


class Imported(NamedTuple):
    """The modules that a program has imported from its own folder and below.

    Modules of Python and of installed packages are not among them, and those that are imported
    later are not known yet.
    """

    modules: dict[str, str]
    """SHA-256 by the path from the working folder, or by the whole path if it is not below that."""
    fingerprint: str
    """One digest of all of them, in which the working folder plays no part; `""` if there are none.

    It belongs to the fingerprint of a stage, so that kept values are not used after a change.
    """

    @staticmethod
    def by_this_process() -> Imported:
        modules = _digests()
        return Imported(modules, _fingerprint(modules))


NOTHING = Imported({}, "")


def _digests() -> dict[str, str]:
    folder, working = _folder(), os.path.realpath(os.getcwd())
    files: dict[str, str] = {}
    for name, module in list(sys.modules.items()):
        path = _path(name, module)
        if path is not None and _is_below(folder, path) and not _is_installed(path):
            files[os.path.relpath(path, working) if _is_below(working, path) else path] = path
    digests = {}
    for name in sorted(files):
        with open(files[name], "rb") as content:
            digests[name] = hashlib.sha256(content.read()).hexdigest()
    return digests


def _fingerprint(modules: dict[str, str]) -> str:
    folder = _folder()
    names = {os.path.relpath(os.path.realpath(path), folder): path for path in modules}
    if not names:
        return ""
    digest = hashlib.sha256()
    for name in sorted(names):
        digest.update(f"{name}\0{modules[names[name]]}\n".encode())
    return f"modules:{digest.hexdigest()}"


def _folder() -> str:
    """Where the program is."""
    return os.path.realpath(sys.path[0] or os.getcwd())


def _path(name: str, module: ModuleType) -> str | None:
    """The file of a module, unless the command of the program names it."""
    file = getattr(module, "__file__", None)
    # `python3 -m NAME` names no file.
    if not isinstance(file, str) or (name == "__main__" and module.__spec__ is None):
        return None
    path = os.path.realpath(file)
    # Modules that are made in memory name files that do not exist: `<gi.repository.GLib>`.
    return path if os.path.isfile(path) else None


def _is_below(folder: str, path: str) -> bool:
    return os.path.commonpath([folder, path]) == folder


def _is_installed(path: str) -> bool:
    """Whether a file belongs to Python, to a virtual environment or to this package."""
    roots = (sys.prefix, sys.base_prefix, os.path.dirname(__file__))
    return any(_is_below(os.path.realpath(root), path) for root in roots)
