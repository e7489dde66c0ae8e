"""Tests sessions, recordings and scores in Python, against the command line."""
import json
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import numpy as np
import trocar
from small_sessions import clipped_duct, coarse_scene, cut_pair_session

ROOT = Path(__file__).resolve().parents[2]
SCENE = ROOT / 'data/scenes/liver_and_stomach.toml'
TASK = ROOT / 'data/scenes/tasks/touch_targets.toml'
FOLDER = tempfile.TemporaryDirectory()
COARSE, COARSE_SCRIPTED = coarse_scene(TASK, Path(FOLDER.name)), coarse_scene(SCENE, Path(FOLDER.name))
PROGRAM = None  # the trocar program


class Sessions(unittest.TestCase):
    def test_a_scripted_session_records_the_bits_of_the_demonstration(self):
        import h5py
        frames = 120  # the first touch is after 80
        with tempfile.TemporaryDirectory() as folder:
            own = Path(folder) / 'own.h5'
            subprocess.run([PROGRAM, 'demo', '--headless', '--frames', str(frames), '--backend', 'scan', '--out', folder], check=True,
                           capture_output=True)
            session = trocar.Session(SCENE, backend='scan', check='obb-refit', driver='scripts', record=own)
            session.step(frames)
            session.close()
            self.assertEqual(session.disagreements, 0)
            with h5py.File(Path(folder) / 'session.h5') as theirs, h5py.File(own) as ours:
                for name in ('liver', 'stomach'):
                    for table in ('nodes', 'touch_face', 'touch_point', 'touch_pressure'):
                        if table in theirs['organs'][name]:
                            a, b = theirs['organs'][name][table][:], ours['organs'][name][table][:]
                            self.assertEqual(a.tobytes(), b.tobytes(), f'{name}/{table}')
                self.assertGreater(len(ours['organs/liver/touch_face']), 0)
                a, b = theirs['session/tool_force'][:], ours['session/tool_force'][:]
                self.assertEqual(a.tobytes(), b.tobytes())
                self.assert_columns_are_declared(ours)
            recording = trocar.Recording(own)
            self.assertEqual(len(recording), frames)
            np.testing.assert_array_equal(recording.tips(-1), session.tips)
            np.testing.assert_array_equal(recording.forces(-1), session.forces)
            for organ in session.organs:
                touches = recording.touches(-1, organ)
                for number, tool in enumerate(session.instruments):
                    recorded = set(touches['faces'][touches['tools'] == number].tolist())
                    self.assertLessEqual(recorded, set(session.touched(organ, tool).tolist()))
            self.assertEqual(trocar.replay(own)['differing_frames'], 0)

    def test_a_scored_attempt_equals_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            own, theirs = Path(folder) / 'own.h5', Path(folder) / 'theirs.h5'
            result = trocar.perform(COARSE, own, 'expert', 3)
            subprocess.run([PROGRAM, 'perform', COARSE, '--as', 'expert', '--seed', '3', '-o', theirs], check=True, capture_output=True)
            subprocess.run([PROGRAM, 'score', theirs, '--json', Path(folder) / 'score.json'], check=True, capture_output=True)
            attempt = json.loads((Path(folder) / 'score.json').read_text())['attempts'][0]
            score = trocar.score(own)
            for key in ('overall', 'instruments', 'task'):
                self.assertEqual(json.dumps(score[key]), json.dumps(attempt[key]), key)
            self.assertEqual(score['task']['score'], result['score'])

    def test_levels(self):
        self.assertEqual(trocar.Session(COARSE, level=1, backend='scan').task['score'], 0.0)
        for make in (lambda: trocar.Session(COARSE, level=9), lambda: trocar.perform(COARSE, 'x.h5', level=9)):
            self.assertRaisesRegex(trocar.InputError, 'level', make)

    def assert_columns_are_declared(self, file):
        import h5py
        types = {column['path']: column['type'].split()[0] for column in trocar.recording_columns()}

        def visit(name, item):
            if isinstance(item, h5py.Dataset):
                parts = name.split('/')
                path = '/organs/NAME/' + parts[2] if parts[0] == 'organs' else '/' + name
                self.assertEqual(str(item.dtype), types[path], path)
        file.visititems(visit)

    def test_a_recording_is_written_over_only_with_force(self):
        with tempfile.TemporaryDirectory() as folder:
            own = Path(folder) / 'own.h5'
            record = {'backend': 'scan', 'driver': 'scripts', 'record': own}
            trocar.Session(COARSE, **record).close()
            before = own.read_bytes()
            for refused in (lambda: trocar.Session(COARSE, **record), lambda: trocar.perform(COARSE, own)):
                self.assertRaisesRegex(trocar.InputError, 'exists .*force=True', refused)
            self.assertEqual(own.read_bytes(), before)
            session = trocar.Session(COARSE, **record, force=True)
            session.step(2)
            session.close()
            self.assertEqual(len(trocar.Recording(own)), 2)

    def test_moving_presses_the_tissue(self):
        session = trocar.Session(COARSE, backend='scan', check='obb-refit')
        tool = session.instruments[0]
        start = session.positions('liver')
        vertex = start[np.argmax(start[:, 2])].astype(float)
        tip = session.tips[0].astype(float)
        for frame in range(90):
            share = min(1.0, frame / 60)
            session.move(tool, (1 - share) * tip + share * (vertex - [0, 0, 0.008]))
            session.step()
        self.assertGreater(len(session.touched('liver', tool)), 0)
        self.assertGreater(np.linalg.norm(session.forces[0]), 0.05)
        self.assertGreater(np.abs(session.positions('liver') - start).max(), 1e-3)
        self.assertEqual(session.disagreements, 0)
        self.assertEqual(session.faces('liver').shape[0], len(session.face_ids('liver')))

    def test_saved_sessions_continue_with_the_same_bits(self):
        session = trocar.Session(COARSE, backend='scan')
        rates = np.array([[20.0, -10.0, 0.0, 0.03, 0.0]] * len(session.instruments))
        def go(frames):
            for _ in range(frames):
                session.drive(rates)
                session.step()
        go(20)
        state = session.save()
        ends = []
        for _ in range(2):
            session.restore(state)
            go(20)
            ends.append((session.positions('liver').tobytes(), session.forces.tobytes(), session.frame))
        self.assertEqual(ends[0], ends[1])
        with self.assertRaises(trocar.InputError):
            session.restore(state[:-1])

    def test_a_session_on_opengl_is_restored_with_its_faces(self):
        with tempfile.TemporaryDirectory() as folder:
            ends = []
            for backend in ('scan', 'compute'):
                try:
                    session = cut_pair_session(Path(folder), backend)
                except trocar.InputError as error:
                    self.skipTest(str(error))
                session.step(20)
                whole, state = session.face_ids('left'), session.save()
                session.step(110)
                self.assertFalse(np.array_equal(session.face_ids('left'), whole), 'nothing was cut')
                session.restore(state)
                np.testing.assert_array_equal(session.face_ids('left'), whole)
                touched = []
                for _ in range(60):
                    session.step()
                    touched.append([session.touched('left', tool).tolist() for tool in session.instruments])
                ends.append((touched, session.save()))
            self.assertGreater(sum(len(faces) for frame in ends[0][0] for faces in frame), 100)
            self.assertEqual(ends[0][0], ends[1][0])
            self.assertEqual(ends[0][1], ends[1][1])

    def test_a_clip_that_a_restored_state_does_not_have_holds_no_longer(self):
        with tempfile.TemporaryDirectory() as folder:
            used = clipped_duct(Path(folder))
            fresh = trocar.Session(Path(folder) / 'duct.toml', backend='scan')
            state = fresh.save()
            for session in (used, fresh):
                session.restore(state)
                session.step(30)
            self.assertEqual(used.save(), fresh.save())

    def test_impossible_numbers_are_refused_and_move_nothing(self):
        session = trocar.Session(COARSE, backend='scan')
        session.step(2)
        before = session.save(), session.joints.tobytes()
        tools = len(session.instruments)
        tip = session.tips[0].astype(float)
        for column in range(5):
            for wrong in (np.nan, np.inf, -np.inf, 1e300, 1e6):
                rates = np.ones((tools, 5))
                rates[-1, column] = wrong
                with self.assertRaisesRegex(trocar.InputError, 'rates of instrument'):
                    session.drive(rates)
        for wrong in (np.ones((tools, 5), complex), np.ones((5, tools)), [['a'] * 5] * tools, None):
            with self.assertRaisesRegex(trocar.InputError, 'rates'):
                session.drive(wrong)
        for call in (lambda: session.move(0, tip, roll_deg=np.nan), lambda: session.move(0, tip, roll_deg=1e300),
                     lambda: session.move(0, tip, grip=np.nan), lambda: session.move(0, [np.inf, 0, 0]),
                     lambda: session.move(0, [0, 0, 5e3]),
                     lambda: session.joints_to(0, [0, np.nan, 0]), lambda: session.picture(9000, 10)):
            self.assertRaises(trocar.InputError, call)
        self.assertEqual((session.save(), session.joints.tobytes()), before)

    def test_numbers_and_names_of_instruments(self):
        session = trocar.Session(COARSE, backend='scan')
        tip = session.tips[1].astype(float)
        session.move(np.int64(1), tip)
        for wrong in (2**70, -2**70, -1, 99):
            with self.assertRaisesRegex(IndexError, 'instrument -?[0-9]+: there are 2 instruments'):
                session.move(wrong, tip)
        for wrong in (None, 1.0, [0], b'probe'):
            with self.assertRaisesRegex(TypeError, 'named by its number or its name'):
                session.move(wrong, tip)
            with self.assertRaisesRegex(TypeError, 'named by its number or its name'):
                session.positions(wrong)
        with self.assertRaisesRegex(KeyError, 'nobody'):
            session.move('nobody', tip)

    def test_frames_after_the_end_of_the_recording_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / 'a.h5'
            session = trocar.Session(COARSE, backend='scan', record=file)
            session.step(3)
            session.close(), session.close()
            with self.assertRaisesRegex(trocar.RunError, 'the recording is closed'):
                session.step()
            self.assertEqual(session.frame, 3)
            self.assertEqual(len(trocar.Recording(file)), 3)
        free = trocar.Session(COARSE, backend='scan')
        free.close()
        free.step()

    def test_pictures_need_no_display(self):
        session = trocar.Session(COARSE, backend='scan')
        session.step()
        try:
            picture = session.picture(320, 240)
        except trocar.InputError as error:
            self.skipTest(str(error))
        self.assertEqual((picture.shape, picture.dtype), ((240, 320, 3), np.uint8))
        self.assertGreater(picture.std(), 20)
        self.assertLess(picture[:5, :5].max(), 30, 'the corners of the round field are black')
        np.testing.assert_array_equal(picture, session.picture(320, 240))

    def test_long_calls_release_the_lock(self):
        session = trocar.Session(COARSE, backend='scan')
        counted = 0
        thread = threading.Thread(target=lambda: session.step(60))
        thread.start()
        while thread.is_alive():
            counted += 1
            time.sleep(0.001)
        self.assertGreater(counted, 10)

    def test_objects_with_opengl_work_on_any_thread_and_side_by_side(self):
        def run(backend):
            session = trocar.Session(COARSE_SCRIPTED, backend=backend, driver='scripts')
            session.step(70)
            return session
        try:
            sessions = [run('compute')]
        except trocar.InputError as error:
            self.skipTest(str(error))
        def other():
            sessions.append(run('occlusion'))
            sessions[0].step(30)
            sessions[1].step(30)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        plain = trocar.Session(COARSE_SCRIPTED, backend='scan', driver='scripts')
        plain.step(100)
        self.assertGreater(np.abs(plain.forces).max(), 0)
        for session in sessions:
            self.assertEqual(session.forces.tobytes(), plain.forces.tobytes())
        del sessions[0]  # its objects belong to its own context
        sessions[0].step(1)
        self.assertGreater(sessions[0].picture(64, 48).max(), 0)

    def test_wrong_arguments_leave_nothing_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            record = Path(folder) / 'a.h5'
            for scene, options in ((Path(folder) / 'absent.toml', {}), (SCENE, {'backend': 'fast'}), (SCENE, {'driver': 'me'}),
                                   (SCENE, {'trajectories': {'nobody': 'T.csv'}}), (SCENE, {'record': SCENE})):
                with self.assertRaises(trocar.InputError):
                    trocar.Session(scene, **{'record': record, **options})
                self.assertFalse(record.exists(), options)
        session = trocar.Session(COARSE, backend='scan')
        for wrong in (lambda: session.touched('kidney', 0), lambda: session.touched(0, 9)):
            self.assertRaises(LookupError, wrong)
        for wrong in (lambda: session.drive(np.zeros((1, 2))), lambda: session.move(0, [0, 0, 0], grip=2),
                      lambda: session.move(0, [0, 0, 0], energy='on'), lambda: session.picture(0, 10)):
            self.assertRaises(ValueError, wrong)
        with self.assertRaisesRegex(IndexError, 'frame 5'):
            with tempfile.TemporaryDirectory() as folder:
                short = trocar.Session(COARSE, backend='scan', record=Path(folder) / 'b.h5')
                short.step(2)
                short.close()
                trocar.Recording(Path(folder) / 'b.h5').tips(5)


if __name__ == '__main__':
    PROGRAM = sys.argv.pop(1)
    unittest.main()
