"""What a program has imported from its own folder."""

from __future__ import annotations

import hashlib
import os
import sys


def imported_digest() -> str:
    """A digest of the modules that the program has imported from its own folder and below.

    It is part of the fingerprint, so that kept values are not used after a change of one of them.
    Modules of Python and of installed packages are not in it, and those that are imported later
    are not known yet. `""` if there are none.
    """
    folder = os.path.realpath(sys.path[0] or os.getcwd())
    files: dict[str, str] = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name == "__main__" or not isinstance(file, str):
            continue
        path = os.path.realpath(file)
        # Modules that are made in memory name files that do not exist: `<gi.repository.GLib>`.
        if not os.path.isfile(path):
            continue
        if os.path.commonpath([folder, path]) == folder and not _is_installed(path):
            files[os.path.relpath(path, folder)] = path
    if not files:
        return ""
    digest = hashlib.sha256()
    for name in sorted(files):
        with open(files[name], "rb") as content:
            digest.update(f"{name}\0{hashlib.sha256(content.read()).hexdigest()}\n".encode())
    return f"modules:{digest.hexdigest()}"


def _is_installed(path: str) -> bool:
    """Whether a file belongs to Python, to a virtual environment or to this package."""
    roots = (sys.prefix, sys.base_prefix, os.path.dirname(__file__))
    return any(
        os.path.commonpath([os.path.realpath(root), path]) == os.path.realpath(root)
        for root in roots
    )
