"""What a program has imported."""

from __future__ import annotations

import hashlib
import os
import sys
from typing import NamedTuple


class Imported(NamedTuple):
    """The script of a program, and the modules that it has imported.

    Modules of Python and of installed packages are not among them, and modules that are imported
    later are not known yet.
    """

    modules: dict[str, str]
    """SHA-256 by the path from the working folder, or by the whole path if it is not below that."""
    fingerprint: str
    """One digest of all of them by their names, in which folders play no part; `""` without any.

    It belongs to the fingerprint of a stage, so that kept values are not used after a change.
    """

    @staticmethod
    def by_this_process() -> Imported:
        working = os.path.realpath(os.getcwd())
        modules, lines = {}, []
        for name, path in sorted(_files().items()):
            with open(path, "rb") as content:
                digest = hashlib.sha256(content.read()).hexdigest()
            modules[os.path.relpath(path, working) if _is_below(working, path) else path] = digest
            lines.append(f"{name}\0{digest}\n")
        fingerprint = hashlib.sha256("".join(lines).encode()).hexdigest()
        return Imported(modules, f"modules:{fingerprint}" if lines else "")


NOTHING = Imported({}, "")


def _files() -> dict[str, str]:
    """The files of modules by the names of the modules; the script is `__main__`."""
    files = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str):
            continue
        path = os.path.realpath(file)
        # Modules that are made in memory name files that do not exist: `<gi.repository.GLib>`.
        if os.path.isfile(path) and not _is_installed(path):
            files[name] = path
    return files


def _is_below(folder: str, path: str) -> bool:
    return os.path.commonpath([folder, path]) == folder


def _is_installed(path: str) -> bool:
    """Whether a file belongs to Python, to a virtual environment, to packages or to this one."""
    if {"site-packages", "dist-packages"}.intersection(path.split(os.sep)):
        return True
    roots = (sys.prefix, sys.base_prefix, os.path.dirname(__file__))
    return any(_is_below(os.path.realpath(root), path) for root in roots)
