#!/usr/bin/env python3
"""Prints what bled in a recording: ml of blood and bile lost by each organ over time, where from, and how it stopped.

    tests/check/blood.py RECORDING.h5 [--times 60,120,180,240]

The last column is the end of the recording. Sources and states: docs/file-formats.md, /bleeding. Needs h5py and numpy."""
import argparse
from collections import Counter

import h5py
import numpy as np

KINDS = ("end of a vessel", "cut or torn surface", "perforation")
STATES = ("flows", "pressed", "closed by a clip", "coagulated", "stopped by itself")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("recording")
    parser.add_argument("--times", default="60,120,180,240")
    options = parser.parse_args()
    with h5py.File(options.recording, "r", swmr=True, libver="latest") as file:
        if "bleeding" not in file:
            print("nothing can bleed in this recording")
            return
        organs = list(file["organs"])  # in the order of the scene
        table = file["bleeding"]
        lost = 1e6 * table["lost"][:]  # ml
        time = file["session/time"][: len(lost)]
        source, change = table["source"][:], table["change"][:]
    ends = np.zeros(len(source), int)
    for row, _, state in change:  # in the order of frames
        ends[row] = state
    moments = [float(t) for t in options.times.split(",") if float(t) < time[-1]] + [float(time[-1])]
    print("organ, fluid | " + " | ".join(f"{t:.0f} s" for t in moments) + " | from | at the end")
    for k, name in enumerate(organs):
        mine = source[:, 0] == k if len(source) else np.zeros(0, bool)
        for fluid, what in enumerate(("blood", "bile")):
            if not lost[-1, k, fluid] > 0:
                continue
            values = [f"{lost[np.searchsorted(time, t, side='right') - 1, k, fluid]:.2f}" for t in moments]
            kinds = Counter(KINDS[i] for i in source[mine, 2])
            states = Counter(STATES[i] for i in ends[mine])
            listed = lambda counts: ", ".join(f"{n} {word}" for word, n in counts.most_common())
            print(f"{name}, {what} | " + " | ".join(values) + f" | {listed(kinds)} | {listed(states)}")
    if len(source):
        print(f"{len(source)} sources, {int((ends > 1).sum())} stopped")


if __name__ == "__main__":
    main()
