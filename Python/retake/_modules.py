"""What a program has imported."""

from __future__ import annotations

import ast
import functools
import hashlib
import os
import sys
from importlib.machinery import PathFinder
from typing import Any, NamedTuple


class Imported(NamedTuple):
    """The script of a program, and the modules that it has imported or that these import later.

    Modules of Python and of installed packages are not among them.
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
    files: dict[str, str] = {}
    real_folder = functools.cache(os.path.realpath)
    installed = _installed_folders()
    # The package of each module, for its relative imports.
    waiting: list[tuple[str, str, str | None]] = [
        (name, module.__file__, getattr(module, "__package__", None))
        for name, module in list(sys.modules.items())
        if isinstance(getattr(module, "__file__", None), str)
    ]
    while waiting:
        name, file, package = waiting.pop()
        # Most modules are in few folders, and the links of a path take time.
        path = os.path.join(real_folder(os.path.dirname(file)), os.path.basename(file))
        if os.path.islink(path):
            path = os.path.realpath(path)
        # Modules that are made in memory name files that do not exist: `<gi.repository.GLib>`.
        if name in files or _is_installed(path, installed) or not os.path.isfile(path):
            continue
        files[name] = path
        for imported in _imports(path, package or ""):
            # `__main__` is another module than the file that a module may import.
            if imported not in files and imported not in sys.modules:
                waiting += _found(imported)
    return files


def _imports(path: str, package: str) -> set[str]:
    """The names that a file of Python imports anywhere, also in functions."""
    if path.endswith((".so", ".pyc", ".pyd")):
        return set()
    try:
        with open(path, "rb") as source:
            tree = ast.parse(source.read())
    except (SyntaxError, ValueError, RecursionError):
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: -(node.level - 1) or None]
                base = ".".join([*parents, base] if base else parents)
            names.add(base)
            # A name of a package may be a module.
            names.update(f"{base}.{alias.name}" for alias in node.names)
    return names - {""}


def _found(name: str) -> list[tuple[str, str, str | None]]:
    """The files of a module and of its packages, found without importing them."""
    found: list[tuple[str, str, str | None]] = []
    folders: Any = None
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        part = ".".join(parts[:count])
        try:
            spec = PathFinder.find_spec(part, folders)
        except (ImportError, ValueError):
            break
        if spec is None:
            break
        folders = spec.submodule_search_locations
        if spec.has_location and spec.origin:
            found.append((part, spec.origin, part if folders else part.rpartition(".")[0]))
        if folders is None:
            break
    return found


def _is_below(folder: str, path: str) -> bool:
    return os.path.commonpath([folder, path]) == folder


def _is_installed(path: str, folders: list[str]) -> bool:
    if {"site-packages", "dist-packages"}.intersection(path.split(os.sep)):
        return True
    return any(_is_below(folder, path) for folder in folders)


def _installed_folders() -> list[str]:
    """Folders of Python, of a virtual environment, of packages and of this one."""
    roots = [sys.prefix, sys.base_prefix, os.path.dirname(__file__)]
    # `pip install --target` leaves the notes of an installation in any folder.
    for folder in sys.path:
        if os.path.isdir(folder) and any(name.endswith(".dist-info") for name in os.listdir(folder)):
            roots.append(folder)
    return [os.path.realpath(root) for root in roots]
