#!/usr/bin/env python3
"""Lets scripted trainees do every level of every task, and tells whether the grades put them in order.

    tests/check/grades.py TROCAR FOLDER [--tasks touch_targets ...] [--levels 1 2 3] [--seeds 3] [--doses 0.25 0.5 0.75 1]
                          [--faults tremor slowness ...] [--jobs 2] [--only-judge]

The trainees are an expert, an average and a clumsy one, and experts with a single fault of each dose; dose 0 is the expert.
Seeds come from the hash of the commit under test, so they cannot be chosen; a tree with changes is refused. Runs are made by
`trocar sweep`: broken off and begun again, it goes on. FOLDER/grades.csv has every metric of every run, failed ones too;
FOLDER/grades.md has the table. Four rules: no clumsy trainee passes, no expert fails, the mean of the average one is below
that of the expert, and the mean over the seeds does not rise with the dose of a fault. A rise of less than RISE points is
noise of the movements, and is printed all the same. Ends with 1 where a rule is broken."""
import argparse
import collections
import csv
import hashlib
import os
import subprocess
import sys
from pathlib import Path

TASKS = ["touch_targets", "navigate_camera", "follow_curve", "lift_gallbladder", "burn_line", "keep_out", "cut_band",
         "retract_expose", "clip_and_cut", "clear_triangle", "control_bleeding", "dissect_bed"]
# Faults that change what a scripted trainee does in a task: an order needs several targets, a heavy hand something to press.
FAULTS = {"tremor": TASKS, "slowness": TASKS, "detour": TASKS,
          "force": ["touch_targets", "keep_out", "follow_curve", "burn_line", "lift_gallbladder", "retract_expose"],
          "wrong-order": ["touch_targets", "keep_out"]}
SKILLS = ["expert", "average", "clumsy"]
PASS = 85.0  # points  of the curriculum
RISE = 0.5   # points


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def commit():
    if output_of("git", "status", "--porcelain"):
        sys.exit("grades: commit your changes first: the seeds come from the commit under test")
    return output_of("git", "rev-parse", "HEAD")


def seeds_of(head, count):
    return [int.from_bytes(hashlib.sha256(f"{head} grades {k}".encode()).digest()[:4], "big") >> 1 for k in range(count)]


def plan_text(options, seeds):
    """The plan of the sweep: a group of trainees for the tasks, and a group for each fault."""
    def group(tasks, *lines):
        scenes = ", ".join(f'"{Path.cwd()}/data/scenes/tasks/{task}.toml"' for task in tasks)
        return "\n".join(["[[cases]]", 'run = "perform"', f"scenes = [{scenes}]", *lines, f"levels = {options.levels}",
                          f"seeds = {seeds}", 'backends = "scan"', "allow_outside = true", ""])

    text = ["schema = 1\ntimeout_s = 1200\n", group(options.tasks, f"as = {SKILLS}".replace("'", '"'))]
    for fault in options.faults:
        tasks = [task for task in options.tasks if task in FAULTS[fault]]
        if tasks and options.doses:
            text.append(group(tasks, f'faults = ["{fault}"]', f"dose = {options.doses}"))
    return "\n".join(text)


def read(table):
    """Returns {(task, level): {(skill or fault, dose): {seed: score}}}; a run without a score has None."""
    runs = collections.defaultdict(lambda: collections.defaultdict(dict))
    with table.open() as file:
        for row in csv.DictReader(file):
            who = (row.get("fault") or row["as"], float(row.get("dose") or 0))
            score = float(row["score"]) if row.get("score") else None
            runs[Path(row["scene"]).stem, int(row["level"])][who][row["seed"]] = score
    return runs


def mean(scores):
    known = [score for score in scores.values() if score is not None]
    return sum(known) / len(known) if known else float("nan")


def judge(runs, options):
    """Returns (the rows of the table, the broken rules)."""
    rows, broken = [], []
    for (task, level), trainees in runs.items():
        place = f"{task}, level {level}"
        for who, scores in trainees.items():
            broken += [f"{place}: {who[0]} {who[1]:g} of seed {seed} has no score" for seed, s in scores.items() if s is None]
        of = lambda skill: [s for s in trainees[skill, 0.0].values() if s is not None]
        broken += [f"{place}: a clumsy trainee passes with {s:.1f}" for s in of("clumsy") if s >= PASS]
        broken += [f"{place}: an expert fails with {s:.1f}" for s in of("expert") if s < PASS]
        expert, average = mean(trainees["expert", 0.0]), mean(trainees["average", 0.0])
        if average >= expert:
            broken.append(f"{place}: the average trainee has {average:.1f}, the expert {expert:.1f}")
        cells = []
        for fault in options.faults:
            doses = sorted(dose for who, dose in trainees if who == fault)
            curve = [expert] + [mean(trainees[fault, dose]) for dose in doses]
            cells.append(" ".join(f"{score:.0f}" for score in curve[1:]) if doses else "")
            for dose, before, after in zip(doses, curve, curve[1:]):
                if after > before + 1e-9:
                    text = f"{place}: {fault} {dose:g} has {after:.1f} after {before:.1f}"
                    broken.append(text) if after > before + RISE else print(f"within the noise: {text}")
        scores = lambda skill: " ".join(f"{s:.0f}" for s in sorted(of(skill)))
        rows.append([task, str(level), scores("expert"), scores("average"), scores("clumsy"), *cells])
    return rows, broken


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("trocar")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS)
    parser.add_argument("--levels", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--doses", nargs="*", type=float, default=[0.25, 0.5, 0.75, 1.0])
    parser.add_argument("--faults", nargs="*", default=list(FAULTS), choices=list(FAULTS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only-judge", action="store_true", help="of FOLDER/grades.csv")
    options = parser.parse_args()
    trocar, folder = str(Path(options.trocar).resolve()), options.folder.resolve()
    os.chdir(Path(__file__).resolve().parents[2])
    table = folder / "grades.csv"
    if not options.only_judge:
        head = commit()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "grades.toml").write_text(plan_text(options, seeds_of(head, options.seeds)))
        print(f"commit {head}, seeds {seeds_of(head, options.seeds)}", flush=True)
        subprocess.run([trocar, "sweep", str(folder / "grades.toml"), "-o", str(folder / "grades.h5"), "--csv", str(table),
                        "--times", str(folder / "times.csv"), "--jobs", str(options.jobs), "--force"],
                       env={**os.environ, "TROCAR_THREADS": "1"}, check=False)
    rows, broken = judge(read(table), options)
    heads = ["task", "level", *SKILLS, *(f"{fault} {' '.join(f'{d:g}' for d in options.doses)}" for fault in options.faults)]
    lines = ["| " + " | ".join(row) + " |" for row in [heads, ["---"] * len(heads), *rows]]
    (folder / "grades.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines), *broken, f"{len(broken)} rules broken", sep="\n")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
