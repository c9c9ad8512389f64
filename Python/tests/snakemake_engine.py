"""Examples/Engines/Snakefile on Snakemake: Scripts/test-snakemake installs and runs it."""

import shutil
import sys
import unittest

from test_engines import ENGINES, EngineTests, ShardTests


class SnakemakeTests(EngineTests, ShardTests):
    command = [sys.executable, "-m", "snakemake", "--cores", "2"]
    # The terminal interrupts the shards, too.
    ended_by = "SIGINT"
    interrupted = 1

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        shutil.copy(ENGINES / "Snakefile", cls.project.folder)


if __name__ == "__main__":
    unittest.main()
