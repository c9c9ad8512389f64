"""Judges of scores against labels, for Tests/RetakeCompareTests/LabelJudgeTests.swift.

Writes random labels and detections as JSON, and what pycocotools, motmetrics and TrackEval say of
them: labels.py SETS SEED FILE. Counts of several classes are added, as TrackEval's det-averaged
classes do. Detections in ignored regions are removed before tracking as TrackEval does for BDD100K.
"""
import contextlib
import io
import json
import sys

import motmetrics
import numpy as np
import trackeval
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from trackeval.datasets._base_dataset import _BaseDataset

EPSILON = np.finfo("float").eps


# MARK: Random sets


def moved(box, amount, random):
    x, y, w, h = box
    x, y = x + random.normal() * w * amount, y + random.normal() * h * amount
    return [x, y, w * np.exp(random.normal() * amount), h * np.exp(random.normal() * amount)]


def new_object(kinds, side, identity, random):
    size = np.exp(random.uniform(np.log(20), np.log(90), 2))
    return {
        "id": identity, "kind": int(random.integers(kinds)), "hypothesis": identity + 1000,
        "box": [*random.uniform(0, side, 2), *size], "step": random.normal(size=2) * 4,
    }


def random_set(random):
    kinds, side = int(random.integers(1, 5)), float(random.choice([150, 400, 1500]))
    density = int(random.choice([1, 4, 12, 40, 130], p=[0.25, 0.3, 0.25, 0.15, 0.05]))
    jitter, miss, false, swap = random.uniform([0.01, 0, 0, 0], [0.25, 0.4, 0.5, 0.15])
    decimals = int(random.choice([1, 2, 9]))
    names = [f"class{kind}" for kind in range(kinds + 1)]
    objects, frames, count = [], [], 0
    for number in range(int(random.integers(3, 40)) if density < 100 else 4):
        objects = [thing for thing in objects if random.uniform() > 0.06]
        while len(objects) < density and random.uniform() < 0.99:
            objects.append(new_object(kinds, side, count, random))
            count += 1
        labels, detections = [], []
        is_empty = random.uniform() < 0.1
        for thing in objects:
            if random.uniform() < swap:
                other = objects[int(random.integers(len(objects)))]
                thing["hypothesis"], other["hypothesis"] = (
                    other["hypothesis"], thing["hypothesis"])
        for thing in objects:
            thing["box"][:2] = np.add(thing["box"][:2], thing["step"])
            if is_empty:
                continue
            kind = thing["kind"]
            labels.append({
                "box": [float(side) for side in thing["box"]], "label": names[kind],
                "identity": thing["id"]})
            if random.uniform() < miss:
                continue
            # The last class has no labels.
            kind = kind if random.uniform() > 0.05 else int(random.integers(kinds + 1))
            detections.append({
                "box": moved(thing["box"], jitter, random), "cls": kind,
                "identity": thing["hypothesis"]})
        for _ in range(int(random.poisson(false * density))):
            detections.append({
                "box": [*random.uniform(0, side, 2), *random.uniform(10, 90, 2)],
                "cls": int(random.integers(kinds + 1)), "identity": count + 9000})
            count += 1
        for _ in range(int(random.integers(0, 3)) if random.uniform() < 0.5 else 0):
            name = names[int(random.integers(kinds))] if random.uniform() < 0.7 else "ignore"
            labels.append({
                "box": [*random.uniform(0, side, 2), *random.uniform(50, 300, 2)], "label": name,
                "ignored": True})
        for detection in detections:
            detection["score"] = round(float(random.uniform()), decimals)
        if random.uniform() < 0.1:
            detections = []
        order = random.permutation(len(detections))
        frames.append({
            "id": number, "labels": labels, "dets": [detections[index] for index in order]})
    return {"classes": names, "frames": frames}


# MARK: Judges


def coco(data):
    """AP, AP50, precision and recall."""
    images, truths, results = [], [], []
    for frame in data["frames"]:
        image = frame["id"] + 1
        images.append({"id": image})
        for label in frame["labels"]:
            for kind, name in enumerate(data["classes"]):
                if label["label"] in (name, "ignore"):
                    truths.append({
                        "id": len(truths) + 1, "image_id": image, "category_id": kind + 1,
                        "bbox": label["box"], "area": label["box"][2] * label["box"][3],
                        "iscrowd": int(label.get("ignored", False))})
        results += [{
            "image_id": image, "category_id": detection["cls"] + 1, "bbox": detection["box"],
            "score": detection["score"]} for detection in frame["dets"]]
    truth = COCO()
    truth.dataset = {
        "images": images, "annotations": truths,
        "categories": [{"id": kind + 1} for kind in range(len(data["classes"]))]}
    truth.createIndex()
    if not results:
        return {}
    found = truth.loadRes(results)
    answers = {}
    judge = COCOeval(truth, found, "bbox")
    judge.params.areaRng, judge.params.areaRngLbl = [[0, 1e10]], ["all"]
    judge.params.maxDets = [100, 100_000]
    judge.evaluate()
    judge.accumulate()
    precision = judge.eval["precision"][..., 0, 0]
    for name, values in (("ap", precision), ("ap50", precision[0])):
        if (values > -1).any():
            answers[name] = values[values > -1].mean()
    right = wrong = objects = 0
    for image in filter(None, judge.evalImgs):
        ignored = image["dtIgnore"][0].astype(bool)
        matched = np.asarray(image["dtMatches"][0]) > 0
        right += int((matched & ~ignored).sum())
        wrong += int((~matched & ~ignored).sum())
        objects += int((np.asarray(image["gtIgnore"]) == 0).sum())
    if right + wrong:
        answers["precision"] = right / (right + wrong)
    if objects:
        answers["recall"] = right / objects
    return answers


def ious(left, right, **options):
    return _BaseDataset._calculate_box_ious(
        np.asarray(left, float).reshape(-1, 4), np.asarray(right, float).reshape(-1, 4),
        box_format="xywh", **options)


def sequence(data, kind):
    """The frames of a class, for TrackEval, and the boxes."""
    name = data["classes"][kind]
    frames = []
    for frame in data["frames"]:
        truth = [label for label in frame["labels"]
                 if label["label"] == name and not label.get("ignored")]
        regions = [label["box"] for label in frame["labels"]
                   if label["label"] in (name, "ignore") and label.get("ignored")]
        found = [detection for detection in frame["dets"] if detection["cls"] == kind]
        if found and regions:
            free = np.arange(len(found))
            if truth:
                scores = ious([t["box"] for t in truth], [f["box"] for f in found])
                scores[scores < 0.5 - EPSILON] = 0
                rows, columns = trackeval.metrics.hota.linear_sum_assignment(-scores)
                free = np.delete(free, columns[scores[rows, columns] > EPSILON])
            inside = ious([found[index]["box"] for index in free], regions, do_ioa=True)
            out = free[np.any(inside > 0.5 + EPSILON, axis=1)] if len(free) else []
            found = [f for index, f in enumerate(found) if index not in set(out)]
        frames.append((truth, found))
    return frames


def numbered(identities):
    numbers = {}
    return [
        np.array([numbers.setdefault(value, len(numbers)) for value in frame], int)
        for frame in identities], len(numbers)


def tracking(data):
    """MOTA, IDF1, switches and HOTA of TrackEval; MOTA, IDF1 and switches of motmetrics."""
    names = (("clear", trackeval.metrics.CLEAR), ("identity", trackeval.metrics.Identity),
             ("hota", trackeval.metrics.HOTA))
    judges = {name: judge({"PRINT_CONFIG": False}) if name != "hota" else judge()
              for name, judge in names}
    results = {name: {} for name in judges}
    counts = np.zeros(7)
    fields = ["num_misses", "num_false_positives", "num_switches", "num_objects", "idtp", "idfp",
              "idfn"]
    count_error = np.zeros(len(data["frames"]))
    for kind in range(len(data["classes"])):
        frames = sequence(data, kind)
        truths, truth_count = numbered([[t["identity"] for t in truth] for truth, _ in frames])
        founds, found_count = numbered([[f["identity"] for f in found] for _, found in frames])
        similarities = [
            ious([t["box"] for t in truth], [f["box"] for f in found]) for truth, found in frames]
        question = {
            "num_timesteps": len(frames), "num_gt_dets": sum(map(len, truths)),
            "num_tracker_dets": sum(map(len, founds)), "num_gt_ids": truth_count,
            "num_tracker_ids": found_count, "gt_ids": truths, "tracker_ids": founds,
            "similarity_scores": similarities}
        for name, judge in judges.items():
            results[name][kind] = judge.eval_sequence(question)
        accumulator = motmetrics.MOTAccumulator(auto_id=True)
        for mine, theirs, overlaps in zip(truths, founds, similarities):
            # Its own iou_matrix needs NumPy 1.
            accumulator.update(
                mine, theirs, np.where(overlaps >= 0.5 - EPSILON, 1 - overlaps, np.nan))
        if question["num_gt_dets"] or question["num_tracker_dets"]:
            summary = motmetrics.metrics.create().compute(accumulator, metrics=fields)
            counts += np.nan_to_num(summary.to_numpy()[0].astype(float))
        count_error += [len(found) - len(truth) for truth, found in frames]
    combined = {name: judge.combine_classes_det_averaged(results[name])
                for name, judge in judges.items()}
    missed, false, switches, objects, idtp, idfp, idfn = counts
    answers = {"countError": np.abs(count_error).mean()}
    if not objects:
        return answers, {}
    answers |= {
        "mota": combined["clear"]["MOTA"], "idSwitches": combined["clear"]["IDSW"],
        "idf1": combined["identity"]["IDF1"], "hota": combined["hota"]["HOTA"].mean()}
    return answers, {
        "mota": 1 - (missed + false + switches) / objects, "idSwitches": switches,
        "idf1": idtp * 2 / (2 * idtp + idfp + idfn)}


def main():
    count, seed, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    random = np.random.default_rng(seed)
    sets = []
    for _ in range(count):
        data = random_set(random)
        with contextlib.redirect_stdout(io.StringIO()):
            pycocotools, (track_eval, mot) = coco(data), tracking(data)
        data["answers"] = {
            judge: {name: float(value) for name, value in answers.items()}
            for judge, answers in (
                ("pycocotools", pycocotools), ("TrackEval", track_eval), ("motmetrics", mot))}
        sets.append(data)
    with open(path, "w") as file:
        json.dump(sets, file)


if __name__ == "__main__":
    main()
