"""Scripts/release, in a small copy of the repository with packages that need no compiler."""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import support
from support import python

VERSIONED = [
    "Sources/Judge/RetakeSuite/Tool.swift",
    "Python/pyproject.toml",
    "CHANGELOG.md",
]
PACKAGE = """#!/bin/sh
mkdir -p .build/packages
for name in {names}; do echo "$name" >".build/packages/$name"; done
exit {status}
"""
# No user, no settings and no network: only the copy.
ENVIRONMENT = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    **{f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


def packages(version):
    """The names of the files that Scripts/package makes."""
    deb_version = version.replace("-", "~")
    return [
        file
        for name in ("retake", "retake-dev")
        for file in (f"{name}-{version}-linux-x86_64.tar.gz", f"{name}_{deb_version}_amd64.deb")
    ]


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class ReleaseTests(unittest.TestCase):
    def setUp(self):
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory())) / "copy"
        for name in [*VERSIONED, "LICENSE", "Python/README.md", "Scripts/release", "Scripts/wheel"]:
            self.copy(name)
        for file in (support.PACKAGE / "retake").rglob("*"):
            if file.is_file() and file.parent.name != "__pycache__":
                self.copy(file.relative_to(support.REPOSITORY))
        self.write(".gitignore", ".build/\n__pycache__/\n")
        self.version = re.search(r'version = "(.*)"', self.read(VERSIONED[0]))[1]
        # Between two releases the changelog may have entries of the next one.
        changes = self.read("CHANGELOG.md")
        self.write("CHANGELOG.md", re.sub(r"(?ms)^## \[Unreleased\].*?(?=^## )", "", changes))
        self.plant_package(*packages(self.version))
        self.git("init", "--quiet")
        self.commit()

    def copy(self, name):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(support.REPOSITORY / name, self.root / name)

    def read(self, name):
        return (self.root / name).read_text()

    def write(self, name, text):
        (self.root / name).write_text(text)

    def change(self, name, old, new):
        text = self.read(name)
        self.assertIn(old, text)
        self.write(name, text.replace(old, new, 1))
        self.commit()

    def plant_package(self, *names, status=0):
        self.write("Scripts/package", PACKAGE.format(names=" ".join(names), status=status))
        (self.root / "Scripts/package").chmod(0o755)

    def git(self, *words):
        subprocess.run(["git", *words], cwd=self.root, env=ENVIRONMENT, check=True, capture_output=True)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "x")

    def release(self, *words):
        return subprocess.run(
            python(str(self.root / "Scripts/release"), *words),
            cwd=self.root, env=ENVIRONMENT, capture_output=True, text=True,
        )  # fmt: skip

    def expect_refusal(self, *says):
        done = self.release("--check")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(done.stdout, "")
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), len(says), done.stderr)
        for line, words in zip(lines, says, strict=True):
            self.assertRegex(line, "^release: ")
            self.assertIn(words, line)

    def test_the_repository_has_one_version_and_a_section_for_it(self):
        done = self.release("--check")
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout, f"release: {self.version} can be made\n")
        self.assertEqual(done.returncode, 0)
        self.assertFalse((self.root / ".build").exists())

    def test_a_tree_that_is_not_clean_is_refused(self):
        self.write("new.txt", "x")
        self.expect_refusal("the git tree is not clean: new.txt; commit or remove them")
        self.commit()
        self.write("LICENSE", "x")
        self.expect_refusal("the git tree is not clean: LICENSE;")
        for number in range(6):
            self.write(f"new{number}.txt", "x")
        self.expect_refusal("new3.txt and 2 more; commit")

    def test_versions_that_differ_are_refused(self):
        self.change("Python/pyproject.toml", f'version = "{self.version}"', 'version = "7.8.9"')
        self.expect_refusal(f"pyproject.toml has version 7.8.9, {VERSIONED[0]} has {self.version}")
        self.change(VERSIONED[0], f'"{self.version}"', '"7.8.9"')
        self.expect_refusal("CHANGELOG.md has no section '## [7.8.9]'")
        self.change("CHANGELOG.md", f"## [{self.version}]", "## [7.8.9] - 2030-01-02")
        self.assertEqual(self.release("--check").returncode, 0)

    def test_a_program_without_a_version_is_refused(self):
        self.change(VERSIONED[0], f'"{self.version}"', '"next"')
        self.expect_refusal("has no version such as 0.1.0: next", "pyproject.toml", "no section '## [next]'")

    def test_a_section_that_is_missing_or_empty_is_refused(self):
        whole = self.read("CHANGELOG.md")
        head = whole.partition(f"## [{self.version}]")[0]
        self.write("CHANGELOG.md", head)
        self.commit()
        self.expect_refusal(f"CHANGELOG.md has no section '## [{self.version}]'")
        self.write("CHANGELOG.md", f"{head}## [{self.version}]\n\n## [0.0.1]\n\n- older\n")
        self.commit()
        self.expect_refusal(f"the section [{self.version}] of CHANGELOG.md is empty")

    def test_entries_above_the_section_are_refused_and_an_empty_section_is_not(self):
        heading = f"## [{self.version}]"
        self.change("CHANGELOG.md", heading, f"## [Unreleased]\n\n{heading}")
        self.assertEqual(self.release("--check").returncode, 0)
        self.change("CHANGELOG.md", "## [Unreleased]\n", "## [Unreleased]\n\n- newer\n")
        self.expect_refusal(f"CHANGELOG.md has entries in [Unreleased] above [{self.version}]")

    def test_a_tag_of_another_version_or_commit_is_refused(self):
        self.git("tag", "unrelated")
        self.git("tag", self.version)
        self.assertEqual(self.release("--check").returncode, 0)
        self.git("tag", "v7.8.9")
        self.expect_refusal("this commit has the tag v7.8.9")
        self.git("tag", "--delete", "v7.8.9")
        self.write("new.txt", "x")
        self.commit()
        self.expect_refusal(f"the tag {self.version} is on another commit")

    def test_a_release_has_all_files_with_their_sums(self):
        done = self.release()
        self.assertEqual(done.returncode, 0, done.stderr)
        folder = self.root / ".build/releases" / self.version
        names = sorted(file.name for file in folder.iterdir())
        self.assertEqual(names, [
            "NOTES.md", "SHA256SUMS", f"retake-{self.version}-linux-x86_64.tar.gz",
            f"retake-dev-{self.version}-linux-x86_64.tar.gz", f"retake-dev_{self.version}_amd64.deb",
            f"retake_{self.version}_amd64.deb", f"retake_harness-{self.version}-py3-none-any.whl",
        ])  # fmt: skip
        sums = dict(reversed(line.split("  ")) for line in (folder / "SHA256SUMS").read_text().splitlines())
        self.assertEqual(sorted(sums), [name for name in names if name != "SHA256SUMS"])
        for name, digest in sums.items():
            self.assertEqual(hashlib.sha256((folder / name).read_bytes()).hexdigest(), digest)
        self.assertTrue(done.stdout.endswith(f"next: git tag {self.version}\n"), done.stdout)

        again = self.release()
        self.assertEqual(again.returncode, 1)
        self.assertIn("exists; remove it, or name another folder", again.stderr)

    def test_the_notes_are_the_section_without_links_that_lead_nowhere(self):
        text = "- [Guide](docs/a.md#b), [docs/c.md](docs/c.md), [web](https://example.org/d).\n\n### More\n\n- e\n"
        heading = f"## [{self.version}]"
        head = self.read("CHANGELOG.md").partition(heading)[0]
        self.write("CHANGELOG.md", f"{head}{heading} - 2030-01-02\n\n{text}\n## [0.0.1]\n\n- older\n")
        self.commit()
        self.assertEqual(self.release("made").returncode, 0)
        self.assertEqual(
            self.read("made/NOTES.md"),
            f"# Retake {self.version}\n\n- Guide (`docs/a.md`), docs/c.md, [web](https://example.org/d).\n\n"
            "### More\n\n- e\n",
        )

    def test_packages_that_fail_or_have_another_version_leave_no_release(self):
        self.plant_package(status=2)
        self.commit()
        failed = self.release("made")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("Scripts/package failed with exit code 2", failed.stderr)
        self.plant_package("retake-7.8.9-linux-x86_64.tar.gz")
        self.commit()
        other = self.release("made")
        self.assertEqual(other.returncode, 1)
        self.assertIn(f"wrote 0 files retake-{self.version}-linux-*.tar.gz", other.stderr)
        self.assertEqual(list(self.root.glob("made*")), [])

    def test_a_hyphen_is_a_tilde_in_the_name_of_a_deb(self):
        self.plant_package(*packages("7.8.9-rc.1"))
        self.change("Python/pyproject.toml", f'version = "{self.version}"', 'version = "7.8.9-rc.1"')
        self.change(VERSIONED[0], f'"{self.version}"', '"7.8.9-rc.1"')
        self.change("CHANGELOG.md", f"## [{self.version}]", "## [7.8.9-rc.1]")
        done = self.release("made")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.root / "made/retake_7.8.9~rc.1_amd64.deb").exists())

    def test_wrong_arguments_are_refused(self):
        for words in [("--chek",), ("a", "b")]:
            done = self.release(*words)
            self.assertEqual(done.returncode, 64)
            self.assertIn("usage: Scripts/release", done.stderr)
        self.assertEqual(self.release("--help").returncode, 0)


if __name__ == "__main__":
    unittest.main()
