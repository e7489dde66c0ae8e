"""Tests tasks as environments with the published Gymnasium package: its checker, its vectors of environments in one process
and in forked and spawned ones, its wrappers, copies, and pictures after a fork. The package is taken from the interpreter
or from ../shared/data/peers; a run with that folder is complete and must not skip these tests."""
import copy
import functools
import multiprocessing
import pickle
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT.parent / 'shared/data/peers'
if (PEERS / 'gymnasium').is_dir():
    sys.path.insert(0, str(PEERS))
try:
    import gymnasium
except ImportError:
    if PEERS.is_dir():
        raise
    gymnasium = None
try:
    import cloudpickle  # noqa: F401  what the package sends to spawned processes
except ImportError:
    sys.modules['cloudpickle'] = pickle  # suffices for functions of a module

import trocar
from small_sessions import coarse_scene
from trocar.env import TaskEnv, VectorTaskEnv

FOLDER = tempfile.TemporaryDirectory()
TASK = ROOT / 'data/scenes/tasks/touch_targets.toml'
STEPS = 300


def make(scene, **options):
    return functools.partial(TaskEnv, scene, allow_outside=True, **options)


def restless(random, count):
    """Actions that push the instruments into the organ."""
    actions = np.clip(random.normal(0, 0.6, (count, 2, 6)), -1, 1).astype(np.float32)
    actions[..., 3] = 0.8
    return actions


def has_opengl(scene):
    try:
        trocar.Session(scene, backend='scan').picture(16, 16)
        return True
    except trocar.InputError:
        return False


def draws_after_fork(pipe, env):
    """What a forked process gets for a picture."""
    try:
        env.reset(seed=1)
        pipe.send('drawn')
    except trocar.RunError as error:
        pipe.send(str(error))


@unittest.skipIf(gymnasium is None, 'skipped: no gymnasium package here and no ../shared/data/peers')
class WithGymnasium(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scene = coarse_scene(TASK, Path(FOLDER.name))

    def assert_no_warnings(self, caught, allowed):
        said = [str(warning.message) for warning in caught]
        self.assertEqual([text for text in said if not any(word in text for word in allowed)], [])

    def test_the_checker_accepts_states_and_pictures(self):
        from gymnasium.utils.env_checker import check_env
        kinds = ('state', 'picture') if has_opengl_in_child(self.scene) else ('state',)
        for kind in kinds:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter('always')
                check_env(TaskEnv(self.scene, observation=kind), skip_render_check=kind == 'state')
            # A force has no limit; a TaskEnv made without gymnasium.make has no spec.
            self.assert_no_warnings(caught, ('infinity', 'spec', 'pixel', 'picture'))

    def run_vector(self, envs):
        random, touched = np.random.default_rng(0), set()
        envs.reset(seed=1)
        for step in range(STEPS):
            _, _, _, _, infos = envs.step(restless(random, envs.num_envs))
            by_tool = infos['touched']['liver']['probe']
            self.assertEqual(len(by_tool), envs.num_envs)
            touched.add(tuple(len(faces) for faces in by_tool))
        envs.close()
        self.assertTrue(any(len(set(counts)) > 1 for counts in touched), 'the attempts touched equally many faces')

    def test_attempts_that_touch_differently_run_in_one_process(self):
        self.run_vector(gymnasium.vector.SyncVectorEnv([make(self.scene, seconds=3, frames_per_action=1)] * 2))

    def test_attempts_that_touch_differently_run_in_forked_processes(self):
        self.run_vector(gymnasium.vector.AsyncVectorEnv([make(self.scene, seconds=3, frames_per_action=1)] * 2, context='fork'))

    def test_attempts_that_touch_differently_run_in_spawned_processes(self):
        self.run_vector(gymnasium.vector.AsyncVectorEnv([make(self.scene, seconds=3, frames_per_action=1)] * 2, context='spawn'))

    def test_infos_become_a_list(self):
        envs = gymnasium.wrappers.vector.DictInfoToList(gymnasium.vector.SyncVectorEnv([make(self.scene)] * 2))
        envs.reset(seed=1)
        infos = envs.step(np.zeros((2, 2, 6), np.float32))[4]
        self.assertEqual([sorted(info) for info in infos], [['forces', 'task', 'touched']] * 2)
        self.assertIsInstance(infos[0]['touched']['liver']['probe'], tuple)

    def test_unseeded_resets_differ_and_seeded_ones_repeat(self):
        first, second = TaskEnv(self.scene), TaskEnv(self.scene)
        starts = [env.reset()[0].tobytes() for env in (first, second, first, second)]
        self.assertEqual(len(set(starts)), 4)
        seeded = [env.reset(seed=seed)[0].tobytes() for env in (first, second) for seed in (7, np.int64(7), 8)]
        self.assertEqual(seeded[:3], seeded[3:])
        self.assertEqual(seeded[0], seeded[1])
        self.assertNotEqual(seeded[1], seeded[2])
        self.assertIs(first.np_random, first.unwrapped.np_random)
        self.assertEqual(first.np_random_seed, 8)
        envs = gymnasium.vector.SyncVectorEnv([make(self.scene)] * 2)
        starts = [envs.reset()[0] for _ in range(2)]
        self.assertEqual(len({row.tobytes() for start in starts for row in start}), 4)
        envs.close()

    def test_make_and_the_wrappers(self):
        from gymnasium import wrappers
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            env = gymnasium.make('trocar.env:trocar/Task-v0', scene=self.scene, max_episode_steps=5)
            env = wrappers.FrameStackObservation(wrappers.RecordEpisodeStatistics(env), 3)
            observation, _ = env.reset(seed=1)
            self.assertEqual(observation.shape, (3, *env.unwrapped.observation_space.shape))
            for _ in range(5):
                observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
            self.assertTrue(truncated and not terminated)
            self.assertEqual(info['episode']['l'], 5)
            self.assertTrue(env.observation_space.contains(observation))
            env.close()
            flat = wrappers.FlattenObservation(wrappers.ClipAction(wrappers.TimeLimit(TaskEnv(self.scene), 3)))
            flat.reset(seed=1)
            self.assertTrue(flat.observation_space.contains(flat.step(np.full((2, 6), 3.0))[0]))
            flat.close()
        self.assert_no_warnings(caught, ('infinity',))

    def test_make_vec(self):
        for mode in ('sync', 'async'):
            envs = gymnasium.make_vec('trocar.env:trocar/Task-v0', num_envs=2, vectorization_mode=mode, scene=self.scene)
            observation, _ = envs.reset(seed=3)
            np.testing.assert_array_equal(observation[0], TaskEnv(self.scene).reset(seed=3)[0])
            envs.step(envs.action_space.sample())
            envs.close()

    def test_a_picture_after_a_fork_is_a_sentence(self):
        if not has_opengl_in_child(self.scene):
            self.skipTest('skipped: this machine has no OpenGL')
        code = (f'import sys; sys.path[:0] = {sys.path!r}\n'
                'import multiprocessing, gymnasium_test as t\n'
                f'env = t.TaskEnv({str(self.scene)!r}, observation="picture")\n'
                'env.reset(seed=1)\n'
                'fork = multiprocessing.get_context("fork")\n'
                f'for env in (env, t.TaskEnv({str(self.scene)!r}, observation="picture")):\n'
                '    here, there = fork.Pipe()\n'
                '    child = fork.Process(target=t.draws_after_fork, args=(there, env))\n'
                '    child.start()\n'
                '    print(here.recv() if here.poll(60) else "no answer")\n'
                '    child.join(30)\n'
                '    print(child.exitcode)\n')
        done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=200)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 4, done.stdout + done.stderr)
        for sentence, status in (lines[:2], lines[2:]):
            self.assertRegex(sentence, 'OpenGL was used before the fork.*use spawn')
            self.assertEqual(status, '0')

    def test_pictures_in_spawned_processes(self):
        if not has_opengl_in_child(self.scene):
            self.skipTest('skipped: this machine has no OpenGL')
        envs = gymnasium.vector.AsyncVectorEnv([make(self.scene, observation='picture')] * 2, context='spawn')
        observation, _ = envs.reset(seed=1)
        self.assertGreater(observation.std(), 10)
        envs.close()


def has_opengl_in_child(scene):
    """Asks another process: this one must not use OpenGL before it forks."""
    code = f'import sys; sys.path[:0] = {sys.path!r}\nimport gymnasium_test as t; sys.exit(not t.has_opengl({str(scene)!r}))'
    return subprocess.run([sys.executable, '-c', code], capture_output=True).returncode == 0


class WithoutItsPackage(unittest.TestCase):
    """The same rules hold where gymnasium is not installed."""

    @classmethod
    def setUpClass(cls):
        cls.scene = coarse_scene(TASK, Path(FOLDER.name))

    def test_wrong_arguments(self):
        for wrong in ({'frames_per_action': 0}, {'frames_per_action': -5}, {'frames_per_action': 2.5}, {'seconds': float('nan')},
                      {'seconds': -1}, {'seconds': 0}, {'seconds': float('inf')}, {'picture_size': (0, 84)},
                      {'picture_size': (84,)}, {'observation': 'image'}, {'render_mode': 'human'}):
            with self.assertRaisesRegex(trocar.InputError, next(iter(wrong)), msg=str(wrong)):
                TaskEnv(self.scene, **wrong)
        for wrong in ({'count': 0}, {'count': 1.5}, {'count': 1, 'threads': 0}):
            with self.assertRaises(trocar.InputError):
                VectorTaskEnv(wrong['count'], self.scene, threads=wrong.get('threads'))

    def test_wrong_actions_move_nothing(self):
        env, twin = TaskEnv(self.scene), TaskEnv(self.scene)
        right = np.full((2, 6), 0.25)
        env.reset(seed=1), twin.reset(seed=1)
        bad = right.copy()
        bad[1, 2] = np.nan
        for wrong in (np.zeros((6, 2)), np.zeros(12), np.zeros((1, 2, 6)), right + 0j, bad, np.full((2, 6), np.inf),
                      [['a'] * 6] * 2, None, [[0.0] * 6, [0.0] * 5]):
            with self.assertRaisesRegex(trocar.InputError, 'action'):
                env.step(wrong)
        self.assertEqual(env.step(right)[0].tobytes(), twin.step(right)[0].tobytes())
        self.assertEqual(env.session.save(), twin.session.save())

    def test_wrong_actions_of_several_attempts_move_none(self):
        env = VectorTaskEnv(3, self.scene, threads=2)
        with self.assertRaisesRegex(trocar.RunError, 'reset'):
            env.step(np.zeros((3, 2, 6)))
        env.reset(seed=1)
        one_bad = np.zeros((3, 2, 6))
        one_bad[1, 0, 0] = np.nan
        for wrong in (np.zeros((2, 2, 6)), np.zeros((5, 2, 6)), np.zeros((3, 6, 2)), np.zeros((3, 12)), one_bad,
                      np.zeros((3, 2, 6), complex)):
            with self.assertRaisesRegex(trocar.InputError, 'actions'):
                env.step(wrong)
            self.assertEqual([own.session.frame for own in env.envs], [1, 1, 1])
        self.assertEqual(env.step(np.zeros((3, 2, 6)))[0].shape[0], 3)
        env.close()
        with self.assertRaisesRegex(trocar.RunError, 'closed'):
            env.step(np.zeros((3, 2, 6)))

    def test_attempts_without_a_seed_differ(self):
        env = VectorTaskEnv(2, self.scene)
        starts = [row.tobytes() for _ in range(2) for row in env.reset()[0]]
        self.assertEqual(len(set(starts)), 4)
        seeded = [env.reset(seed=5)[0].tobytes() for _ in range(2)]
        self.assertEqual(seeded[0], seeded[1])
        env.close()

    def test_nothing_before_reset_and_after_close(self):
        env = TaskEnv(self.scene)
        for early in (lambda: env.step(np.zeros((2, 6))), env.render):
            self.assertRaisesRegex(trocar.RunError, 'reset', early)
        env.reset(seed=1)
        env.close(), env.close()
        for late in (env.reset, env.render, lambda: env.step(np.zeros((2, 6)))):
            self.assertRaisesRegex(trocar.RunError, 'closed', late)

    def test_copies_are_new_environments(self):
        env = TaskEnv(self.scene, seconds=5)
        env.reset(seed=4)
        for other in (pickle.loads(pickle.dumps(env)), copy.copy(env), copy.deepcopy(env)):
            with self.assertRaisesRegex(trocar.RunError, 'reset'):
                other.step(np.zeros((2, 6)))
            self.assertIsNot(other.session, env.session)
            self.assertEqual(other.reset(seed=9)[0].tobytes(), TaskEnv(self.scene).reset(seed=9)[0].tobytes())


if __name__ == '__main__':
    sys.argv = sys.argv[:1]
    unittest.main()
