"""Runs the shards of a plan on Ray: python3 ray_shards.py plan.json results [ADDRESS]"""

import json
import os
import signal
import subprocess
import sys
import time

import ray


@ray.remote(max_retries=5, retry_exceptions=[OSError])
def run_shard(index, plan, store, project):
    words = ["retake", "run-shard", plan, "--index", str(index), "--store", store, "--jobs", "1"]
    stops = []
    handler = signal.signal(signal.SIGINT, lambda *_: stops.append(True))  # Of ray.cancel.
    try:
        process = subprocess.Popen(words, cwd=project, start_new_session=True)
        while process.poll() is None and not stops:
            time.sleep(0.2)
        process.terminate()  # Once: a second signal kills. A process that has ended gets none.
        if (status := process.wait()) == 75 or status < 0:
            raise OSError(f"shard {index} ended with {status}")  # Ray runs it again.
    finally:
        signal.signal(signal.SIGINT, handler)


def main(plan, store, address=None):
    with open(plan) as file:
        shards = range(1, json.load(file)["shards"] + 1)
    ray.init(address)
    interrupts = []
    signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
    tasks = [run_shard.remote(index, plan, store, os.getcwd()) for index in shards]
    while ray.wait(tasks, num_returns=len(tasks), timeout=0.2)[1]:
        if interrupts:
            for task in tasks:
                ray.cancel(task)
    for task in tasks:
        try:
            ray.get(task)
        except ray.exceptions.RayError as error:
            print(error, file=sys.stderr)
    merge = ["retake", "merge", plan, "--store", store, "--report", "report"]
    return 130 if interrupts else subprocess.call(merge)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
