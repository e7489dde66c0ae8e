"""Tests tasks as environments: seeds, spaces, rewards, several at once; and the example that learns."""
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import numpy as np
import trocar
from small_sessions import coarse_scene
from trocar.env import NEXT, RATES, TaskEnv, VectorTaskEnv

ROOT = Path(__file__).resolve().parents[2]
TASK = ROOT / 'data/scenes/tasks/touch_targets.toml'
FOLDER = tempfile.TemporaryDirectory()
COARSE = coarse_scene(TASK, Path(FOLDER.name))


def rollout(env, seed, actions):
    observation, _ = env.reset(seed=seed)
    seen, rewards = [observation.tobytes()], []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append(observation.tobytes() + env.session.positions(0).tobytes())
        rewards.append(reward)
        if terminated or truncated:
            break
    return seen, rewards


def towards_the_target(env, observation):
    """Joint rates towards the next target, for the first instrument."""
    action = np.zeros(env.action_space.shape)
    degrees, metres = 45.0, 0.1
    pan, tilt, depth = observation[5:8] * [degrees, degrees, metres]
    action[0, [0, 1, 3]] = np.array([pan, tilt, depth]) * 4.0 / RATES[[0, 1, 3]]
    return np.clip(action, -1, 1)


class Environments(unittest.TestCase):
    def test_spaces(self):
        env = TaskEnv(TASK)
        observation, info = env.reset(seed=0)
        self.assertEqual(observation.shape, env.observation_space.shape)
        self.assertTrue(env.observation_space.contains(observation))
        env.action_space.seed(1)
        action = env.action_space.sample()
        self.assertTrue(env.action_space.contains(action))
        observation, reward, terminated, truncated, info = env.step(action)
        self.assertIsInstance(reward, float)
        self.assertIs(type(terminated), bool)
        self.assertIs(type(truncated), bool)
        self.assertIn(('liver', 'probe'), info['touched'])
        self.assertEqual(info['touched']['liver']['probe'], info['touched']['liver', 'probe'])
        for wrong in (np.full(action.shape, np.nan), np.zeros(3)):
            with self.assertRaises(ValueError):
                env.step(wrong)
        with self.assertRaises(trocar.InputError):
            TaskEnv(ROOT / 'data/scenes/tour.toml')

    def test_the_same_seed_and_actions_give_the_same_bits(self):
        actions = np.random.default_rng(5).uniform(-1, 1, (15, 2, 6))
        one, other = TaskEnv(COARSE), TaskEnv(COARSE)
        first = rollout(one, 3, actions)
        self.assertEqual(first, rollout(other, 3, actions), 'another object')
        self.assertEqual(first, rollout(one, 3, actions), 'the same object again')
        self.assertNotEqual(first[0], rollout(one, 4, actions)[0], 'another seed')
        together = VectorTaskEnv(2, COARSE, threads=2)
        together.reset(seed=3)
        for action in actions:
            together.step(np.stack([action, action]))
        self.assertEqual(together.envs[0].session.positions(0).tobytes(), first[0][-1][-len(one.session.positions(0).tobytes()):])
        together.close()

    def test_a_simple_controller_earns_the_reward_and_doing_nothing_earns_none(self):
        env = TaskEnv(COARSE, seconds=15)
        observation, _ = env.reset(seed=1)
        total, over = 0.0, False
        while not over:
            observation, reward, terminated, truncated, info = env.step(towards_the_target(env, observation))
            total += reward
            over = terminated or truncated
        task = info['task']
        print(f"controller: reward {total:.3f}, progress {task['progress']:.2f}, score {task['score']:.0f}")
        self.assertAlmostEqual(total, task['score'] / 100, places=9)
        self.assertGreater(task['progress'], 0.15)
        idle = TaskEnv(COARSE, seconds=2)
        idle.reset(seed=1)
        for _ in range(20):
            _, reward, _, _, info = idle.step(np.zeros((2, 6)))
            self.assertEqual(reward, 0.0)
            self.assertEqual(info['task']['score'], 0.0)

    def test_time_ends_an_attempt(self):
        env = TaskEnv(COARSE, seconds=0.5)
        env.reset(seed=0)
        ends = [env.step(np.zeros((2, 6)))[3] for _ in range(9)]
        self.assertEqual(ends[:7], [False] * 7)
        self.assertTrue(ends[8])

    def test_pictures(self):
        try:
            env = TaskEnv(COARSE, observation='picture')
            observation, _ = env.reset(seed=0)
        except trocar.InputError as error:
            self.skipTest(str(error))
        self.assertTrue(env.observation_space.contains(observation))
        self.assertGreater(observation.std(), 10)
        together = VectorTaskEnv(3, COARSE, threads=2, observation='picture')
        seen, _ = together.reset(seed=0)
        np.testing.assert_array_equal(seen[0], observation, 'the same seed, in a context of its own, on another thread')
        for _ in range(3):
            seen = together.step(np.zeros((3, 2, 6)))[0]
        self.assertGreater(seen.std(), 10)
        together.close()

    def test_speed(self):
        count = 2
        env = VectorTaskEnv(count, COARSE, threads=2)
        env.reset(seed=0)
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < 3:
            env.step(np.zeros((count, 2, 6)))
            steps += count
        seconds = time.perf_counter() - start
        print(f'{steps / seconds:.0f} steps per second of 4 frames each, {count} attempts on 2 threads')
        env.close()

    def test_the_example_learns(self):
        done = subprocess.run([sys.executable, ROOT / 'examples/python/learn_to_touch.py', '--scene', COARSE, '--rounds', '1',
                               '--attempts', '6', '--seconds', '4'], capture_output=True, text=True, check=True)
        print(done.stdout)
        self.assertIn('better than the random policy', done.stdout)


if __name__ == '__main__':
    sys.argv = sys.argv[:1]
    unittest.main()
