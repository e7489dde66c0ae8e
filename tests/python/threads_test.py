"""Tests objects of the module that several threads use at once: one call at a time goes on, the others raise RunError; nothing
crashes or hangs. Each test runs in a process of its own, which is ended when it hangs."""
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import numpy as np
import trocar
from small_sessions import coarse_scene

ROOT = Path(__file__).resolve().parents[2]
SECONDS, LIMIT = 3, 60


def fight(calls, meet=True):
    """Runs each call again and again on two threads. Returns how many went through and how many were refused; `meet`: some
    must be."""
    until, counts, others = time.monotonic() + SECONDS, [0, 0], []

    def go(call):
        while time.monotonic() < until and not others:
            try:
                call()
                counts[0] += 1
            except trocar.RunError as error:
                if 'in use by another thread' not in str(error):
                    others.append(error)
                counts[1] += 1
                time.sleep(0.0005)
            except BaseException as error:
                others.append(error)
    threads = [threading.Thread(target=go, args=(call,)) for call in calls for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not others, others
    assert counts[0] > 0 and (counts[1] > 0 or not meet), counts
    return counts


def a_session(folder, **options):
    return trocar.Session(coarse_scene(ROOT / 'data/scenes/liver_and_stomach.toml', folder), backend='scan', driver='scripts',
                          **options)


def session(folder):
    own = a_session(folder)
    own.step(75)
    state = own.save()
    print(fight([lambda: own.step(2), lambda: own.restore(state), lambda: own.positions(0), own.save]))
    own.restore(state)
    own.step(30)
    twin = a_session(folder)
    twin.step(105)
    assert own.save() == twin.save(), 'another state than that of one thread'


def query(folder):
    mesh = trocar.load_mesh(ROOT / 'data/organs/liver.obj')
    tip = mesh.positions[0].astype(float)
    tool = trocar.Tool(tip + [0, 0, 0.2], tip + [0.01, 0, 0], tip_before=tip)
    for backend in ('scan', 'obb-refit', 'aabb'):
        own = trocar.TouchQuery(mesh, backend)
        expected = own.touched([tool]).faces.tolist()
        moved = mesh.positions.copy()
        print(backend, fight([lambda: own.update(moved), lambda: own.touched([tool]), lambda: own.times]))
        assert own.touched([tool]).faces.tolist() == expected


def recording(folder):
    file = folder / 'a.h5'
    made = a_session(folder, record=file)
    made.step(90)
    made.close()
    own = trocar.Recording(file)
    fight([lambda: own.touches(85, 'liver'), lambda: own.nodes(3, 'liver'), lambda: own.tips(5)], meet=False)


class Threads(unittest.TestCase):
    def run_alone(self, name):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, __file__, name, folder], capture_output=True, text=True, timeout=LIMIT)
        print(done.stdout.strip())
        self.assertEqual(done.returncode, 0, done.stderr[-500:])

    def test_a_session(self):
        self.run_alone('session')

    def test_a_query(self):
        self.run_alone('query')

    def test_a_recording(self):
        self.run_alone('recording')

    def test_another_thread_may_use_it_afterwards(self):
        mesh = trocar.load_mesh(ROOT / 'data/organs/liver.obj')
        own, results = trocar.TouchQuery(mesh, 'scan'), []
        for _ in range(3):
            thread = threading.Thread(target=lambda: results.append(len(own.touched([]))))
            thread.start()
            thread.join()
        self.assertEqual(results, [0, 0, 0])
        with self.assertRaises(ValueError):
            own.update(np.zeros((5, 3)))  # an error leaves the object free
        self.assertEqual(len(own.touched([])), 0)


if __name__ == '__main__':
    if len(sys.argv) == 3 and sys.argv[1] in ('session', 'query', 'recording'):
        globals()[sys.argv[1]](Path(sys.argv[2]))
    else:
        sys.argv = sys.argv[:1]
        unittest.main()
