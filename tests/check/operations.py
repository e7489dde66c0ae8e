#!/usr/bin/env python3
"""Lets scripted trainees operate on drawn patients, and tells how many reach the pass mark.

    tests/check/operations.py TROCAR FOLDER [--runs 24] [--clumsy 3] [--replays 3] [--jobs 2] [--only-list]

Seeds come from the hash of the commit under test, so nobody can choose them; a tree with changes is refused. Patients are
drawn until each of six variations has as many as are wanted: a duct that runs low beside the common duct, one behind it, an
artery in front of the common duct, a short artery, a stout patient, an inflamed wall. Every run is appended to
FOLDER/operations.log, failed ones too; runs that are already there are not repeated, and none is replaced. The recordings of
the first --replays runs are answered again by their backend and by the tree of boxes; all are removed afterwards. Needs h5py
for the times of frames."""
import argparse
import concurrent.futures
import hashlib
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

SCENE = "data/scenes/procedures/cholecystectomy.toml"
VARIATIONS = {
    "low duct": "parallel and low",
    "duct behind": "behind the common duct",
    "artery in front": "cystic artery: in front",
    "short artery": "cystic artery: short",
    "stout": "stout",
    "inflamed": "inflamed wall",
}


def output_of(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def commit():
    if output_of("git", "status", "--porcelain").stdout.strip():
        sys.exit("operations: commit your changes first: the seeds come from the commit under test")
    return output_of("git", "rev-parse", "HEAD").stdout.strip()


def numbers(text, what):
    """Endless numbers from a text, 0 to 2^31 - 1."""
    k = 0
    while True:
        yield int.from_bytes(hashlib.sha256(f"{text} {what} {k}".encode()).digest()[:4], "big") >> 1
        k += 1


def draw_patients(trocar, head, each):
    """Returns [(variation, anatomy, description)]: a patient counts for the first of its variations that still wants one."""
    patients, left = [], {name: each for name in VARIATIONS}
    for anatomy in numbers(head, "anatomy"):
        text = output_of(trocar, "perform", SCENE, "--anatomy", str(anatomy), "--allow-outside", "--describe").stdout.strip()
        if not text:
            sys.exit(f"operations: {trocar} does not describe patient {anatomy}")
        for name, mark in VARIATIONS.items():
            if left[name] > 0 and mark in text:
                patients.append((name, anatomy, text))
                left[name] -= 1
                break
        if not any(left.values()):
            return patients


def frames_of(recording):
    """Median and 99th percentile of a frame without rendering, ms; disagreements of the backends."""
    import h5py
    import numpy

    with h5py.File(recording, "r") as file:
        cost = file["session/stage_ms"][:].sum(axis=1)
        wrong = int(file["session/disagreements"][:].sum())
    middle, most = numpy.percentile(cost, [50, 99])
    return f"{middle:.1f} and {most:.1f} ms, {wrong} disagreements"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("trocar")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=24)
    parser.add_argument("--clumsy", type=int, default=3)
    parser.add_argument("--replays", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only-list", action="store_true")
    options = parser.parse_args()
    os.chdir(Path(__file__).resolve().parents[2])
    trocar = str(Path(options.trocar).resolve())
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    head = commit()
    log = folder / "operations.log"
    patients = draw_patients(trocar, head, -(-options.runs // len(VARIATIONS)))
    # One of each variation after the other, so that a shorter list has all of them.
    patients = sorted(patients, key=lambda patient: [p for p in patients if p[0] == patient[0]].index(patient))
    seeds = numbers(head, "hand")
    runs = [("expert", next(seeds), *patient) for patient in patients[: options.runs]]
    runs += [("clumsy", next(seeds), *patient) for patient in patients[: options.clumsy]]
    done = set(re.findall(r"^(\w+) seed (\d+) ", log.read_text() if log.exists() else "", re.M))
    lock = threading.Lock()

    def perform(run):
        number, (skill, seed, variation, anatomy, text) = run
        if (skill, str(seed)) in done:
            return
        recording = folder / f"{skill}.{seed}.h5"
        result = output_of(trocar, "perform", SCENE, "--as", skill, "--seed", str(seed), "--anatomy", str(anatomy),
                           "--allow-outside", "--force", "-o", str(recording), env={**os.environ, "TROCAR_THREADS": "1"})
        score = re.search(r"^score ([0-9.]+) of 100, (\d+) errors?", result.stdout, re.M)
        lines = [line.strip() for line in result.stdout.split("\n") if " error " in line or "Critical" in line]
        row = f"{skill} seed {seed} anatomy {anatomy} ({variation}: {text}): "
        row += f"{score[1]} points, {score[2]} errors" if score else f"no score, rc {result.returncode}: {result.stderr[-300:]}"
        row += f"; {re.search(r'^(.*) in [0-9.]+ s', result.stdout, re.M)[0]}" if score else ""
        if recording.exists():
            row += f"; {frames_of(recording)}"
            if number < options.replays:
                for backend in ("scan", "obb"):
                    again = output_of(trocar, "replay", str(recording), "--backend", backend)
                    row += f"; replay {backend}: {again.stdout.strip().splitlines()[-1] if again.stdout else again.stderr[-200:]}"
            recording.unlink()
        with lock, log.open("a") as out:
            out.write("\n    ".join([row, *lines]) + "\n")
        print(row, flush=True)

    with log.open("a") as out:
        out.write(f"# commit {head}, {len(runs)} runs\n")
    if options.only_list:
        for run in runs:
            print(*run)
        return
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(perform, enumerate(runs)))
    # A run without a score has failed.
    points = {(row[0], row[1]): int(row[2]) for row in re.findall(r"^(\w+) seed (\d+) .*?: (\d+) points", log.read_text(), re.M)}
    of = lambda skill: [points.get((skill, str(seed))) for who, seed, *_ in runs if who == skill]
    good = sum(p is not None and p >= 85 for p in of("expert"))
    poor = sum(p is not None and p < 85 for p in of("clumsy"))
    print(f"expert: {good} of {len(of('expert'))} with 85 points or more; clumsy: {poor} of {len(of('clumsy'))} below")


if __name__ == "__main__":
    main()
