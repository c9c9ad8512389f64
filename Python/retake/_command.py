"""The command `retake`, run by another program."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._handover import VARIABLE
from ._inprocess import InProcess

_INTERRUPTED, _NOTHING_SELECTED = 130, 4
_POLITE_SECONDS = 10


class CommandError(Exception):
    """The command could not do its job. The text is for people, and says what to type next."""


@dataclass(frozen=True, slots=True)
class ListedCase:
    """A case that `retake test` would run."""

    key: str
    """`session/case`, which selects it."""
    stale: bool
    """Whether there is only a golden, which no case produces any more."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How the command ended."""

    status: int
    output: str
    errors: str

    @property
    def failure(self) -> CommandError:
        return CommandError(self.errors.strip() or self.output.strip() or f"status {self.status}")


@dataclass(frozen=True, slots=True)
class CaseReport:
    """What `retake test` found in one case."""

    text: str
    """For people: root causes, stages, frames, and what to type next."""
    document: dict[str, Any]
    """The case in report.json."""

    @property
    def key(self) -> str:
        return f"{self.document['session']}/{self.document['case']}"

    @property
    def verdict(self) -> str:
        """`passed`, `changed`, `missing`, `stale`, `not comparable` or `errored`."""
        return str(self.document["verdict"])

    @property
    def known_as(self) -> str | None:
        """The name of a change that golden.yml marks as known."""
        mark = self.document.get("expected")
        return str(mark["id"]) if mark else None

    @property
    def notes(self) -> list[str]:
        return [str(note) for note in self.document["notes"]]

    @property
    def pictures(self) -> list[dict[str, Any]]:
        """Images of frames that differ: `frame`, `role`, and `png` in base64."""
        return list(self.document["pictures"])


def found_program(name: str | None) -> str:
    """The path of the command.

    Args:
        name: A name or a path; `None` is `retake` in PATH.

    Raises:
        CommandError: It cannot be run.
    """
    path = shutil.which(name or "retake", path=_search_path(os.environ))
    if path is None:
        where = "the command 'retake' is not in PATH" if name is None else f"cannot run '{name}'"
        raise CommandError(
            f"{where}. Install it (docs/packaging.md), or say where it is: "
            "RETAKE=/path/to/retake pytest, or retake_program = /path/to/retake in pytest.ini"
        )
    return path


class Command:
    """The command in the folder of a project."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program = program
        self._folder = folder

    def cases(self, *arguments: str) -> list[ListedCase]:
        """The cases that `retake test` would run with these arguments.

        Raises:
            CommandError: Such as for a retake.yml that cannot be read.
        """
        finished = self._run(["test", *arguments, "--list", "--json"])
        if finished.status == _NOTHING_SELECTED and not arguments:
            return []
        if finished.status != 0:
            raise finished.failure
        return [ListedCase(item["key"], item["stale"]) for item in json.loads(finished.output)]

    def test(
        self, arguments: Sequence[str], report: Path, stages: InProcess | None = None
    ) -> list[CaseReport]:
        """Runs `retake test`.

        Args:
            report: A new folder for the report.
            stages: Are computed on this thread.

        Raises:
            CommandError: No case was run.
        """
        finished = self._run(["test", *arguments, "--report", str(report), "--quiet"], stages)
        if finished.status == _INTERRUPTED:
            raise KeyboardInterrupt
        try:
            document = json.loads((report / "report.json").read_text())
        except FileNotFoundError:
            raise finished.failure from None
        cases = document["cases"]
        # Trouble besides the cases, such as a report that could not be written whole.
        if finished.status != 0 and all(case["verdict"] == "passed" for case in cases):
            raise finished.failure
        # The table of all cases is behind the first empty line.
        text = finished.output.split("\n\n")[0].strip()
        return [CaseReport(text if len(cases) == 1 else finished.output, case) for case in cases]

    def accept(self, key: str, reason: str) -> str:
        """Accepts what is pending of a case; what was done.

        Raises:
            CommandError: Nothing was accepted.
        """
        finished = self._run(["accept", key, "--reason", reason])
        if finished.status != 0:
            raise finished.failure
        return finished.output.strip()

    def _run(self, arguments: Sequence[str], stages: InProcess | None = None) -> Finished:
        environment = dict(os.environ)
        environment["PATH"] = _search_path(environment)
        # Annotations of a workflow are no errors of the command.
        environment.pop("GITHUB_ACTIONS", None)
        environment.pop(VARIABLE, None)
        if stages is not None:
            environment[VARIABLE] = stages.address
        process = subprocess.Popen(
            [self._program, *arguments], cwd=self._folder, env=environment, text=True,
            encoding="utf-8", errors="replace", stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        return _Reader(process).finished(stages)


class _Reader:
    """Reads what a process writes on a thread of its own, so that this one can compute stages."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._output = self._errors = ""
        self._end, self._bell = socket.socketpair()
        self._thread = threading.Thread(target=self._read, name="retake", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            self._output, self._errors = self._process.communicate()
        finally:
            self._bell.close()

    def finished(self, stages: InProcess | None) -> Finished:
        """Waits for the end of the process. If this thread is interrupted, the process ends."""
        try:
            if stages is not None:
                stages.serve(self._end)
            self._thread.join()
        except BaseException:
            self._stop(stages)
            raise
        finally:
            self._end.close()
        return Finished(self._process.returncode, self._output, self._errors)

    def _stop(self, stages: InProcess | None) -> None:
        if stages is not None:
            # Its programs end, so the process does not wait for them.
            stages.close()
        self._process.terminate()
        self._thread.join(_POLITE_SECONDS)
        if self._thread.is_alive():
            self._process.kill()
            self._thread.join()


def _search_path(environment: os._Environ[str] | dict[str, str]) -> str:
    """PATH as in the activated virtual environment, if this Python is one's."""
    path = environment.get("PATH", os.defpath)
    if sys.prefix == sys.base_prefix:
        return path
    return os.path.dirname(sys.executable) + os.pathsep + path
