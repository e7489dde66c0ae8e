#!/usr/bin/python3
"""Burns along a line in a real window with synthetic mouse and keyboard (xdotool) under a virtual display: loads the
program's task burn_line, moves the hook with the mouse, presses the pedal, follows the line until the task is finished,
and checks the score of the recording. The mouse is moved as a trainee moves it, by what the window's --state file shows:
the tip and the next point of the line.
  window_burn_test.py TROCAR DATA OUT      a picture of the result stays in OUT. Exit status 77: skipped."""
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import time

WIDTH, HEIGHT = 1000, 600
TITLE = "Burn along the line"
RADIUS_MM = 2.5  # the end of the hook lies so far beyond the tip
NOTCH_MM = 4.0   # a notch of the wheel
TRIAL_PX = 16    # of the motions that measure how the tip follows the mouse

trocar, data, out = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3])
state_file = out / "state.json"


def virtual_display():
    if os.environ.get("TROCAR_PATH_DISPLAY"):
        return
    for tool in ("Xvfb", "xdotool", "import"):
        if not shutil.which(tool):
            print(f"{tool} is missing: not tried")
            sys.exit(77)
    display = pathlib.Path(__file__).resolve().parent.parent / "support" / "with_display.sh"
    os.environ["TROCAR_PATH_DISPLAY"] = "1"
    os.execv(display, [str(display), f"{WIDTH}x{HEIGHT}", *sys.argv])


def xdotool(*arguments):
    subprocess.run(["xdotool", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def fail(why):
    subprocess.run(["import", "-window", "root", str(out / "failed.png")], check=False)
    sys.exit(f"FAILED: {why}\nstate: {state_file.read_text() if state_file.exists() else ''}")


class Program:
    def __init__(self):
        log = open(out / "log", "w", encoding="utf-8")
        command = [trocar, "run", "--folder", out, "--state", state_file, "--width", WIDTH, "--height", HEIGHT]
        self.process = subprocess.Popen(list(map(str, command)), stdout=log, stderr=log)
        self.state = {}

    def read(self):
        if self.process.poll() is not None:
            fail(f"the program has ended with status {self.process.returncode}: " + (out / "log").read_text())
        try:
            self.state = json.loads(state_file.read_text())
        except (OSError, ValueError):
            pass
        return self.state

    def wait(self, condition, what, seconds=60):
        end = time.monotonic() + seconds
        while not condition(self.read()):
            if time.monotonic() > end:
                fail("timed out waiting for " + what)
            time.sleep(0.02)

    def await_frames(self, frames=2):
        """Waits until the state shows the effect of the input."""
        shown = self.read().get("shown", 0)
        self.wait(lambda state: state.get("shown", 0) > shown, "a picture")
        shown = self.state["shown"]
        self.wait(lambda state: state["shown"] >= shown + frames, "pictures")
        return self.state

    def click(self, place):
        self.wait(lambda state: place in state.get("places", {}), place)
        xdotool("mousemove", *self.state["places"][place])
        self.await_frames()
        xdotool("mousedown", 1)
        self.await_frames()
        xdotool("mouseup", 1)
        self.await_frames()

    def key(self, name):
        xdotool("keydown", name)
        self.await_frames()
        xdotool("keyup", name)
        self.await_frames()


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def length(a):
    return math.sqrt(dot(a, a))


class Hand:
    """Moves the tip of the hook, whose trocar is at `pivot`, by the mouse."""

    def __init__(self, program, pivot):
        self.program, self.pivot = program, pivot
        self.right, self.down = self.measure(TRIAL_PX, 0), self.measure(0, TRIAL_PX)

    def tip(self):
        return self.program.state["tip_mm"]

    def measure(self, dx, dy):
        """Returns the motion of the tip for a pixel of the mouse, per mm between trocar and tip."""
        before = self.program.await_frames(4)["tip_mm"]
        xdotool("mousemove_relative", "--", dx, dy)
        after = self.program.await_frames(4)["tip_mm"]
        scale = TRIAL_PX * length(minus(before, self.pivot))
        return [d / scale for d in minus(after, before)]

    def towards(self, goal, most_mm):
        """Swings the hook so that its tip moves towards the line from the trocar to the goal. Returns the distance."""
        shaft = minus(self.tip(), self.pivot)
        depth = length(shaft)
        scale = depth / length(minus(goal, self.pivot))
        gap = minus([p + scale * d for p, d in zip(self.pivot, minus(goal, self.pivot))], self.tip())
        share = min(1.0, most_mm / max(length(gap), 1e-9))
        wanted = [share * g for g in gap]
        right, down = [depth * x for x in self.right], [depth * x for x in self.down]
        a, b, c = dot(right, right), dot(right, down), dot(down, down)
        p, q = dot(right, wanted), dot(down, wanted)
        determinant = a * c - b * b
        dx, dy = round((c * p - b * q) / determinant), round((a * q - b * p) / determinant)
        if dx or dy:
            xdotool("mousemove_relative", "--", dx, dy)
        return length(gap)

    def insert_to(self, depth):
        """Inserts or withdraws by whole notches. Returns whether the tip is near this depth."""
        error = depth - length(minus(self.tip(), self.pivot))
        notches = round(error / NOTCH_MM)
        if notches:
            xdotool("click", "--repeat", abs(notches), "--delay", 5, 4 if notches > 0 else 5)
        return notches == 0


def pivot_of_hook():
    name = False
    for line in (data / "scenes/tasks/burn_line.toml").read_text().splitlines():
        if line.startswith('name = "hook"'):
            name = True
        if name and line.startswith("pivot_mm"):
            return json.loads(line.split("=")[1])
    fail("burn_line.toml has no hook")


def burn(program, hand):
    """Follows the line with the pedal down until the task is nearly done, then releases the pedal."""
    running = lambda: program.state.get("screen") == "practice"
    above = lambda: length(minus(program.state["goal_mm"], hand.pivot)) - RADIUS_MM
    while hand.towards(program.state["goal_mm"], 8.0) > 1.0 or not hand.insert_to(above() - 6.0):
        program.await_frames()
    xdotool("keydown", "e")
    while running() and program.state.get("progress", 0.0) < 0.9985 and "goal_mm" in program.state:
        near = hand.towards(program.state["goal_mm"], 2.0) < 3.0
        hand.insert_to(above() + (1.5 if near else -1.0))
        program.await_frames()
    xdotool("keyup", "e")


def main():
    virtual_display()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    os.environ["TROCAR_DATA"] = str(data)
    os.environ["XDG_CONFIG_HOME"], os.environ["XDG_DATA_HOME"] = str(out / "settings"), str(out / "home")
    program = Program()
    try:
        program.wait(lambda state: state.get("screen") == "start", "the start screen")
        program.click(TITLE)
        program.click("Start")
        program.wait(lambda state: state.get("phase") == "ready", "the session", 120)
        program.key("Return")
        program.wait(lambda state: state.get("phase") == "running", "the start of the task")
        while program.state["in_hand"] != "hook":
            program.key("Tab")
        burn(program, Hand(program, pivot_of_hook()))
        program.wait(lambda state: state.get("phase") == "measured", "the results", 100)
        recording = program.state["file"]
        subprocess.run(["import", "-window", "root", str(out / "results.png")], check=True)
    finally:
        program.process.terminate()
        program.process.wait()
    subprocess.run([trocar, "score", recording, "--json", str(out / "score.json")], check=True, stdout=subprocess.DEVNULL)
    task = json.loads((out / "score.json").read_text())["attempts"][0]["task"]
    metrics = {part["id"]: part["value"] for part in task["parts"]}
    print(f"finished: {task['finished']}, score {task['score']:.0f}, {metrics}")
    if not task["finished"] or metrics.get("task_burnt", 0.0) < 95.0:
        fail(f"the line was not burnt: {task}")


main()
