#!/usr/bin/python3
"""Shows an operation in a real window under a virtual display and looks for the picture of its first step in the task's
panel: a picture of one colour covers as many pixels as it should, and a damaged one costs a note, not the session.
  step_picture_test.py TROCAR DATA OUT      pictures of the window stay in OUT. Exit status 77: skipped."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

SCENE = "scenes/tasks/retract_expose.toml"
COLOUR = "#ff00ff"
WIDTH_PX = 190       # of the picture in the panel
FRAMES = 5

trocar, data, out = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3])
shutil.rmtree(out, ignore_errors=True)
out.mkdir(parents=True)
if not shutil.which("convert"):
    print("convert is missing: not tried")
    sys.exit(77)


def fail(why):
    print(f"FAILED: {why}", file=sys.stderr)
    sys.exit(1)


def coloured_pixels(name, content):
    """Shows the scene with this file as picture of its first step; returns how many pixels have the colour."""
    picture = out / f"{name}-step.png"
    picture.write_bytes(content)
    text = (data / SCENE).read_text().replace("../../organs/", f"{data}/organs/")
    text, count = re.subn(r'picture = "[^"]*"', f'picture = "{picture.name}"', text)
    if count == 0:
        fail(f"{SCENE} has no pictures")
    scene, shot = out / f"{name}.toml", out / f"{name}-window.png"
    scene.write_text(text)
    command = [trocar, "run", str(scene), "--record", "--frames", str(FRAMES), "--quality", "low", "--folder", str(out),
               "--picture", str(shot)]
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "XDG_CONFIG_HOME": str(out / "settings"),
                                                                          "XDG_DATA_HOME": str(out / "home")})
    if result.returncode != 0:
        fail(f"{name}: exit status {result.returncode}: {result.stderr}")
    seen = subprocess.run(["convert", str(shot), "-fuzz", "2%", "-fill", "white", "-opaque", COLOUR, "-fill", "black", "+opaque",
                           "white", "-format", "%[fx:mean*w*h]", "info:"], capture_output=True, text=True, check=True)
    return float(seen.stdout)


def png(width, height):
    return subprocess.run(["convert", "-size", f"{width}x{height}", f"xc:{COLOUR}", "-define", "png:color-type=2", "png:-"],
                          capture_output=True, check=True).stdout


whole = png(320, 240)
for width, height in ((320, 240), (300, 100)):
    seen, expected = coloured_pixels(f"{width}x{height}", png(width, height)), WIDTH_PX * WIDTH_PX * height / width
    if abs(seen - expected) > 0.05 * expected:
        fail(f"a picture of {width} x {height} covers {seen:.0f} pixels, not {expected:.0f}")
if coloured_pixels("damaged", whole[:60]) > 100:
    fail("a damaged picture is shown")
print("pictures of steps: shown in their shape; a damaged one is left out")
