"""Runs the shards of a plan on Dask: python3 dask_shards.py plan.json results [SCHEDULER]"""

import json
import os
import signal
import subprocess
import sys
import time

from distributed import Client, Event


def run_shard(index, plan, store, project, stop):
    words = ["retake", "run-shard", plan, "--index", str(index), "--store", store, "--jobs", "1"]
    if Event(stop).is_set():
        return
    process = subprocess.Popen(words, cwd=project, start_new_session=True)
    while process.poll() is None and not Event(stop).wait(timeout=1):
        pass
    process.terminate()  # Once: a second signal kills. A process that has ended gets none.
    if (status := process.wait()) == 75 or status < 0:
        raise OSError(f"shard {index} ended with {status}")  # Dask runs it again.


def main(plan, store, scheduler=None):
    with open(plan) as file:
        shards = range(1, json.load(file)["shards"] + 1)
    with Client(scheduler) if scheduler else Client(processes=False) as client:
        interrupts = []
        signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
        stop = f"stop-{client.id}"
        options = {"plan": plan, "store": store, "project": os.getcwd(), "stop": stop}
        futures = client.map(run_shard, shards, pure=False, retries=5, **options)
        while not all(future.done() for future in futures):
            if interrupts:
                Event(stop).set()
            time.sleep(0.2)
        for future in futures:
            if future.status == "error":
                print(future.exception(), file=sys.stderr)
    merge = ["retake", "merge", plan, "--store", store, "--report", "report"]
    return 130 if interrupts else subprocess.call(merge)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
