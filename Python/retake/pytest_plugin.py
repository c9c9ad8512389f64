"""The plugin of pytest: cases of retake.yml are tests, and the fixture `retake` checks stages.

pytest finds it by itself where the package is installed; without that: `-p retake.pytest_plugin`.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ._command import CaseReport, Command, CommandError, ListedCase, found_program
from ._inprocess import InProcess

__all__ = ["Checker"]

_PROJECT_FILE = "retake.yml"
_REPORT, _FRAME, _ACCEPTED = "retake_report", "retake_frame", "retake_accepted"
_NAME_CHARACTERS_MAX = 120


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("retake", "replays of camera sessions")
    group.addoption(
        "--retake-project", metavar="DIR",
        help="also run the cases of this folder's retake.yml, and use it for the fixture",
    )  # fmt: skip
    group.addoption(
        "--retake-suite", metavar="NAME", help="a suite of retake.yml; 'default' if not given"
    )
    group.addoption(
        "--retake-accept", metavar="REASON",
        help="make what differs the accepted golden, with this reason",
    )  # fmt: skip
    parser.addini(
        "retake_program",
        "the command retake, a name or a path; the variable RETAKE is used first, then PATH",
        default="",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "retake: replays a session, and compares with a golden")
    given = config.getoption("retake_project")
    if given is None:
        return
    folder = (config.invocation_params.dir / given).resolve()
    file = folder / _PROJECT_FILE
    if not file.is_file():
        raise pytest.UsageError(
            f"--retake-project: there is no {_PROJECT_FILE} in {folder}; make one there: retake init"
        )
    # Whole, for workers of xdist in another folder.
    config.option.retake_project = str(folder)
    if str(file) not in config.args:
        config.args.append(str(file))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.name != _PROJECT_FILE:
        return None
    return ProjectFile.from_parent(parent, path=file_path)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # --retake-project may name a folder that pytest collects anyway.
    seen: set[tuple[Path, str]] = set()
    kept: list[pytest.Item] = []
    for item in items:
        if isinstance(item, Case):
            if (item.path, item.name) in seen:
                continue
            seen.add((item.path, item.name))
        kept.append(item)
    items[:] = kept


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    outcome = yield
    report = outcome.get_result()
    found = dict(item.user_properties)
    if _REPORT not in found or report.passed or not item.config.pluginmanager.hasplugin("html"):
        return
    from pytest_html import extras

    more = [extras.url(Path(str(found[_REPORT])).as_uri(), name="Retake report")]
    if _FRAME in found:
        png = Path(str(found[_FRAME])).read_bytes()
        more.append(extras.png(base64.b64encode(png).decode(), name="Frame"))
    report.extras = [*getattr(report, "extras", []), *more]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    accepted = [
        str(text)
        for report in terminalreporter.getreports("passed")
        for name, text in report.user_properties
        if name == _ACCEPTED
    ]
    if accepted:
        terminalreporter.section("retake")
        for text in accepted:
            terminalreporter.write_line(text)


class ProjectFile(pytest.File):
    """A retake.yml, whose cases are tests."""

    def collect(self) -> Iterable[Case]:
        try:
            command = _command(self.config, self.path.parent)
            listed = command.cases(*_suite(self.config))
        except CommandError as error:
            raise self.CollectError(str(error)) from None
        for item in listed:
            yield Case.from_parent(self, name=item.key, listed=item, command=command)


class Case(pytest.Item):
    """A case of retake.yml on one session."""

    def __init__(self, *, listed: ListedCase, command: Command, **given: Any) -> None:
        super().__init__(**given)
        self._listed = listed
        self._run = _CaseRun(self, command)
        self._report: CaseReport | None = None
        self.add_marker("retake")

    def setup(self) -> None:
        # Trouble here is an error to pytest, and not a failure: nothing was compared.
        if self._listed.stale:
            return
        with _failures_alone():
            reports = self._run.test([self._listed.key, *_suite(self.config)])
            self._report = next((one for one in reports if one.key == self._listed.key), None)
            if self._report is None:
                raise CommandError("the command reports other cases")
            if self._report.verdict == "errored":
                raise CommandError(self._run.told(self._report))

    def runtest(self) -> None:
        if self._report is not None:
            self._run.judge(self._report)
            return
        text = (
            f"stale  {self.name}  a golden exists that no case produces any more\n"
            "    Remove it  retake golden list --stale --remove"
        )
        if _is_ci():
            pytest.fail(text, pytrace=False)
        pytest.skip(text)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


class Checker:
    """The fixture `retake`."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item

    def check(
        self,
        session: str,
        *,
        stage: object | Sequence[object] = (),
        pipeline: str | None = None,
        mode: str | None = None,
        costs: str | None = None,
        seed: int | None = None,
    ) -> None:
        """Replays a session, and fails the test if a result is not its golden.

        Args:
            session: `SESSION` or `SESSION/CASE`, as for `retake test`; or the folder of a session.
            stage: A stage with `@retake.stage`, or several. They are computed here, by the thread
                of the test, in place of the programs that the pipeline starts for stages of the
                same name. So breakpoints and coverage work. Kept values are not used.
            pipeline: The file of a pipeline, in place of the cases of retake.yml.
            mode: With `pipeline`: `every-frame` or `simulate`.
            costs: With `pipeline`: where virtual costs come from.
            seed: With `pipeline`: of the draws of costs.
        """
        __tracebackhide__ = True
        given = {"pipeline": pipeline, "mode": mode, "costs": costs, "seed": seed}
        arguments = [session]
        for name, value in given.items():
            if value is not None:
                arguments += [f"--{name}", str(value)]
        if pipeline is None:
            arguments += _suite(self._item.config)
        stages = list(stage) if isinstance(stage, (list, tuple)) else [stage]
        with _failures_alone():
            run = _CaseRun(self._item, self._command())
            if not stages:
                reports = run.test(arguments)
            else:
                reports = self._in_process(run, stages, arguments, named=pipeline is None)
        for report in reports:
            run.judge(report)

    def _in_process(
        self, run: _CaseRun, stages: list[object], arguments: list[str], named: bool
    ) -> list[CaseReport]:
        __tracebackhide__ = True
        if named:
            run.require_one(arguments)
        computed = InProcess(stages)
        try:
            # A stage may be looked at in a debugger, so there is no limit of time.
            reports = run.test([*arguments, "--cache", "none", "--watchdog", "0"], computed)
        finally:
            computed.close()
        if computed.missing and all(report.verdict != "errored" for report in reports):
            raise CommandError(_not_offered(computed))
        run.failure = computed.failure
        return reports

    def _command(self) -> Command:
        config = self._item.config
        given = config.getoption("retake_project")
        if given is not None:
            return _command(config, Path(given))
        for folder in self._item.path.parents:
            if (folder / _PROJECT_FILE).is_file():
                return _command(config, folder)
        raise CommandError(
            f"there is no {_PROJECT_FILE} above {self._item.path}; make one in the folder of the "
            "project: retake init; or name the folder: pytest --retake-project DIR"
        )


@pytest.fixture(name="retake")
def _retake(request: pytest.FixtureRequest) -> Checker:
    """Replays sessions and compares with goldens: `retake.check("yard", stage=faces)`."""
    return Checker(request.node)


class _CaseRun:
    """Runs cases for one item of pytest, and judges them."""

    def __init__(self, item: pytest.Item, command: Command) -> None:
        self._item = item
        self._command = command
        self.failure = ""
        """What a stage raised in this process."""

    def require_one(self, arguments: list[str]) -> None:
        """A stage is checked in one case, whose pipeline starts it."""
        listed = [case.key for case in self._command.cases(*arguments) if not case.stale]
        if len(listed) != 1:
            choices = ", ".join(f'retake.check("{key}", stage=…)' for key in listed)
            raise CommandError(f"{len(listed)} cases fit; name one of them: {choices}")

    def test(self, arguments: list[str], stages: InProcess | None = None) -> list[CaseReport]:
        with _report_folder() as folder:
            reports = self._command.test([*_workers(), *arguments], folder, stages)
            self._keep(reports, folder)
        return reports

    def judge(self, report: CaseReport) -> None:
        """Ends the test unless the case passed, is known to differ, or is accepted."""
        __tracebackhide__ = True
        if report.verdict == "passed":
            for note in report.notes:
                self._item.add_report_section("call", "retake", f"note: {note}")
            return
        if report.verdict == "changed" and report.known_as is not None:
            pytest.xfail(f"known as {report.known_as}")
            return  # with --runxfail
        if report.verdict == "stale" and not _is_ci():
            self._item.add_report_section("call", "retake", f"note: {report.key} is stale")
            return
        reason = self._item.config.getoption("retake_accept")
        if reason is None or report.verdict in ("errored", "stale"):
            pytest.fail(self.told(report), pytrace=False)
        with _failures_alone(self.told(report)):
            done = self._command.accept(report.key, reason)
            self._item.user_properties.append((_ACCEPTED, done))

    def told(self, report: CaseReport) -> str:
        """The case for people, with what a stage raised, and where the report is."""
        parts = [report.text]
        if self.failure:
            parts.append(f"a stage raised at {self.failure}".rstrip())
        pages = [str(value) for name, value in self._item.user_properties if name == _REPORT]
        if pages:
            parts.append(f"report: {os.path.relpath(pages[-1])}")
        return "\n".join(parts)

    def _keep(self, reports: list[CaseReport], folder: Path) -> None:
        """Keeps the report of cases that need attention where pytest keeps things."""
        cache = getattr(self._item.config, "cache", None)
        if cache is None:
            return
        # First, because pytest makes the .gitignore of its folder only when it writes to a new one.
        cache.set("retake/v", 1)
        keys = "-".join(report.key for report in reports)
        kept = Path(cache.mkdir("retake")) / _file_name(f"{self._item.nodeid}-{keys}")
        shutil.rmtree(kept, ignore_errors=True)
        if all(report.verdict == "passed" for report in reports):
            return
        shutil.move(folder, kept)
        self._item.user_properties.append((_REPORT, str(kept / "report.html")))
        pictures = [picture for report in reports for picture in report.pictures]
        if pictures:
            frame = kept / "frame.png"
            frame.write_bytes(base64.b64decode(pictures[0]["png"]))
            self._item.user_properties.append((_FRAME, str(frame)))


@contextmanager
def _failures_alone(before: str = "") -> Iterator[None]:
    """What the command says fails the test. Where this was called says nothing more."""
    try:
        yield
    except CommandError as error:
        raise pytest.fail.Exception(f"{before}\n{error}".lstrip(), pytrace=False) from None


@contextmanager
def _report_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="retake-") as parent:
        yield Path(parent) / "report"


def _file_name(text: str) -> str:
    """A name that no other text has."""
    short = re.sub(r"[^\w.-]+", "-", text)[-_NAME_CHARACTERS_MAX:].lstrip("-.")
    return f"{short}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _command(config: pytest.Config, folder: Path) -> Command:
    name = os.environ.get("RETAKE") or None
    if name is None and (given := str(config.getini("retake_program"))):
        # A path in a file is relative to that file.
        name = str(config.rootpath / given) if os.sep in given else given
    return Command(found_program(name), folder)


def _suite(config: pytest.Config) -> list[str]:
    suite = config.getoption("retake_suite")
    return [] if suite is None else ["--suite", str(suite)]


def _workers() -> list[str]:
    """A share of the processors for each process of xdist. It changes the speed alone."""
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if processes < 2:
        return []
    return ["--workers", str(max(1, (os.cpu_count() or 1) // processes))]


def _is_ci() -> bool:
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def _not_offered(computed: InProcess) -> str:
    names = ", ".join(f"'{name}'" for name in computed.missing)
    others = ", ".join(f"'{name}'" for name in computed.refused) or "none"
    return (
        f"the pipeline started no program for the stage {names} (for other stages: {others}). "
        'A node of kind "process" has to start the program that calls retake.main with a stage of '
        "that name"
    )
