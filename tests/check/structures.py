#!/usr/bin/env python3
"""Measures how much of the scope's picture each structure covers, and how its colour differs from its neighbours'.

    tests/check/structures.py TROCAR RECORDING.h5 [--json FILE]

At the end of each step of the task the picture is drawn by `trocar export picture`, and every surface of the recording is
projected as the scope sees it (sim/scene/scope.hpp) into a mask of the same size: the nearest surface wins, instruments are
cylinders. Printed for each structure: the step in which it covers most, its share of the mask's circle there, and the least
distance of its median colour from that of a structure that borders on it (CIE 1976 L*a*b*, D65; borders of at least 40
pixels). Needs h5py, numpy and ImageMagick."""
import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import h5py
import numpy as np

WIDTH, HEIGHT = 640, 480
BORDER = 40  # px
ORGANS = Path(__file__).parents[2] / "data/organs"
BARREL, FIELD = 0.08, 1.16  # sim/scene/scope.hpp


def unit(v):
    return v / np.linalg.norm(v)


def camera(row):
    """eye, and forward, right, up of the scope (axes_of in sim/scene/scope.cpp)"""
    port, eye, (spin, angle, field) = row[:3], row[3:6], row[6:]
    along = unit(eye - port)
    world_up = np.array([0.0, 1.0, 0.0])
    if np.linalg.norm(np.cross(along, world_up)) < 1e-6:
        world_up = np.array([0.0, 0.0, -1.0])
    right0 = unit(np.cross(along, world_up))
    up0 = np.cross(right0, along)
    spin, angle = np.radians([spin, angle])
    forward = np.cos(angle) * along + np.sin(angle) * (np.cos(spin) * up0 + np.sin(spin) * right0)
    right = unit(np.cross(forward, world_up))
    return eye, forward, right, np.cross(right, forward), np.tan(np.radians(field) / 2)


def seen(points, view):
    eye, forward, right, up, half = view
    way = points - eye
    depth = way @ forward
    with np.errstate(divide="ignore", invalid="ignore"):
        flat = np.stack([way @ right, way @ up], 1) / (depth * half)[:, None]
        far = np.linalg.norm(flat, axis=1)
        shrink = 2.0 / (1.0 + np.sqrt(1.0 + 4.0 * BARREL * far * far))
    at = flat * shrink[:, None]
    return np.stack([(at[:, 0] * HEIGHT + WIDTH) / 2, (HEIGHT - at[:, 1] * HEIGHT) / 2], 1), depth


def draw(mask, nearest, number, points, faces, view):
    at, depth = seen(points, view)
    corner = at[faces]
    deep = depth[faces]
    good = (deep > 1e-3).all(1) & np.isfinite(corner).all((1, 2))
    low = np.floor(corner.min(1)).astype(int, casting="unsafe")
    high = np.ceil(corner.max(1)).astype(int, casting="unsafe")
    good &= (high > 0).all(1) & (low[:, 0] < WIDTH) & (low[:, 1] < HEIGHT) & ((high - low) < 400).all(1)
    for k in np.flatnonzero(good):
        (x0, y0), (x1, y1) = np.maximum(low[k], 0), np.minimum(high[k] + 1, [WIDTH, HEIGHT])
        a, b, c = corner[k]
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if abs(area) < 1e-9:
            continue
        x, y = np.meshgrid(np.arange(x0, x1) + 0.5, np.arange(y0, y1) + 0.5)
        u = ((x - a[0]) * (c[1] - a[1]) - (y - a[1]) * (c[0] - a[0])) / area
        v = ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) / area
        inside = (u >= 0) & (v >= 0) & (u + v <= 1)
        z = (1 - u - v) * deep[k, 0] + u * deep[k, 1] + v * deep[k, 2]
        part = nearest[y0:y1, x0:x1]
        nearer = inside & (z < part)
        part[nearer] = z[nearer]
        mask[y0:y1, x0:x1][nearer] = number


def surface(organ, frame):
    gone = np.full(len(organ["faces"]), 2**32 - 1)
    gone[organ["gone_face"][:]] = organ["gone_frame"][:]
    faces = organ["faces"][:][(organ["face_born"][:] <= frame) & (frame < gone)]
    node, weight = organ["embedding_node"][:], organ["embedding_weight"][:]
    known = min(len(node), int((organ["vertex_born"][:] <= frame).sum()))
    for row in np.flatnonzero(organ["carried_frame"][:] <= frame):
        node[organ["carried_vertex"][row]] = organ["carried_node"][row]
        weight[organ["carried_vertex"][row]] = organ["carried_weight"][row]
    points = (organ["nodes"][frame][node[:known]] * weight[:known, :, None]).sum(axis=1).astype(float)
    return points, faces[(faces < known).all(1)]


def backdrops(scene):
    """name, points and faces of the neighbours that a scene shows"""
    found = []
    for backdrop in tomllib.loads(scene).get("backdrop", []):
        lines = [line.split() for line in open(ORGANS / f"{backdrop['shape']}.obj")]
        points = np.array([line[1:] for line in lines if line[0] == "v"], float) + backdrop.get("offset_mm", [0, 0, 0])
        faces = np.array([line[1:] for line in lines if line[0] == "f"], int) - 1
        found.append((backdrop["shape"], 1e-3 * points, faces))
    return found


def cylinder(pivot, tip, radius):
    along = unit(tip - pivot)
    side = unit(np.cross(along, [0.3, 0.5, 0.8]))
    other = np.cross(along, side)
    turn = np.linspace(0, 2 * np.pi, 17)[:-1]
    ring = radius * (np.cos(turn)[:, None] * side + np.sin(turn)[:, None] * other)
    points = np.concatenate([pivot + (tip - pivot) * t + ring for t in np.linspace(0, 1, 40)])
    faces = []
    for k in range(39):
        for i in range(16):
            a, b = 16 * k + i, 16 * k + (i + 1) % 16
            faces += [[a, b, a + 16], [b, b + 16, a + 16]]
    return points, np.array(faces)


def lab(colour):
    c = np.asarray(colour) / 255.0
    c = np.where(c > 0.04045, ((c + 0.055) / 1.055) ** 2.4, c / 12.92)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ c
    f = xyz / [0.9505, 1.0, 1.089]
    f = np.where(f > 0.008856, np.cbrt(f), 7.787 * f + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def neighbours(mask, a, b):
    here = mask == a
    beside = np.zeros_like(here)
    beside[1:] |= here[:-1]
    beside[:-1] |= here[1:]
    beside[:, 1:] |= here[:, :-1]
    beside[:, :-1] |= here[:, 1:]
    return int((beside & (mask == b)).sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("trocar")
    parser.add_argument("recording")
    parser.add_argument("--json")
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp())
    subprocess.run([options.trocar, "score", options.recording, "--json", work / "score.json"], check=True,
                   stdout=subprocess.DEVNULL)
    [attempt] = json.load(open(work / "score.json"))["attempts"]
    steps = [(e["text"][6:], e["time"]) for e in attempt["task"]["events"] if e["text"].startswith("done: ")]
    if not steps:
        sys.exit("structures: no step of the task was done in this recording")
    rows, x, y = {}, *np.meshgrid(np.arange(WIDTH) + 0.5, np.arange(HEIGHT) + 0.5)
    circle = np.hypot(x - WIDTH / 2, y - HEIGHT / 2) <= FIELD * HEIGHT / 2
    with h5py.File(options.recording, "r") as file:
        still = backdrops(file.attrs["scene"].decode())
        organs = list(file["organs"])
        names = organs + [name for name, *_ in still]
        for step, time in [("the beginning", 0.1), *steps]:
            frame = min(int(np.searchsorted(file["session/time"][:], max(time - 0.5, 0.0))), len(file["session/time"]) - 1)
            at = str(file["session/time"][frame])
            subprocess.run([options.trocar, "export", "picture", options.recording, "--from", at, "--to", at, "--width",
                            str(WIDTH), "--height", str(HEIGHT), "-o", work / "picture"], check=True, stdout=subprocess.DEVNULL)
            [png] = (work / "picture").glob("*.png")
            raw = subprocess.run(["convert", png, "-depth", "8", "rgb:-"], check=True, capture_output=True).stdout
            png.unlink()
            picture = np.frombuffer(raw, np.uint8).reshape(HEIGHT, WIDTH, 3)
            view = camera(file["session/scope"][frame])
            mask, nearest = np.full((HEIGHT, WIDTH), -1), np.full((HEIGHT, WIDTH), np.inf)
            for number, name in enumerate(organs):
                draw(mask, nearest, number, *surface(file["organs"][name], frame), view)
            for number, (_, points, faces) in enumerate(still, len(organs)):
                draw(mask, nearest, number, points, faces, view)
            for tool in range(file["session/tool_tip"].shape[1]):
                draw(mask, nearest, len(names), *cylinder(file["session/tool_pivot"][frame, tool],
                                                          file["session/tool_tip"][frame, tool],
                                                          file["session/tool_radius"][tool]), view)
            mask[~circle] = -2
            median = {k: np.median(picture[mask == k], axis=0) for k in range(len(names)) if (mask == k).any()}
            for k, name in enumerate(names):
                share = 100.0 * (mask == k).sum() / circle.sum()
                if share <= rows.get(name, {"share": 0.0})["share"]:
                    continue
                apart = {names[o]: float(np.linalg.norm(lab(median[k]) - lab(median[o])))
                         for o in median if o != k and neighbours(mask, k, o) >= BORDER}
                rows[name] = {"share": share, "step": step, "colour": [int(c) for c in median[k]], "apart": apart}
    for name in sorted(rows, key=lambda n: -rows[n]["share"]):
        row = rows[name]
        least = min(row["apart"].items(), key=lambda pair: pair[1], default=("nothing", float("inf")))
        print(f"{name}: {row['share']:.2f} % at '{row['step']}', median colour {row['colour']}, least distance "
              f"{least[1]:.0f} from {least[0]}")
    print(f"{sum(row['share'] >= 1.0 for row in rows.values())} of {len(rows)} structures cover 1 % or more")
    if options.json:
        json.dump(rows, open(options.json, "w"), indent=1)


if __name__ == "__main__":
    main()
