"""Tasks as environments with the Gymnasium interface.

    env = TaskEnv('data/scenes/tasks/touch_targets.toml')
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

The gymnasium package is not needed; where it is installed, its spaces and base class are used. The same seed and the
same actions give the same bits, on every machine.
"""
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ._trocar import InputError, Session

try:
    from gymnasium import Env as _Env
    from gymnasium.spaces import Box
except ImportError:
    _Env = object

    class Box:
        """A box of numbers, as gymnasium.spaces.Box."""

        def __init__(self, low, high, shape, dtype):
            self.shape, self.dtype = tuple(shape), np.dtype(dtype)
            self.low, self.high = np.full(shape, low, dtype), np.full(shape, high, dtype)
            self.seed()

        def seed(self, seed=None):
            self._random = np.random.default_rng(seed)
            return [seed]

        def sample(self):
            if self.dtype == np.uint8:
                return self._random.integers(self.low, self.high, self.shape, np.uint8, endpoint=True)
            low, high = np.maximum(self.low, -1e3), np.minimum(self.high, 1e3)
            return self._random.uniform(low, high).astype(self.dtype)

        def contains(self, value):
            value = np.asarray(value)
            return value.shape == self.shape and bool(np.all(value >= self.low) and np.all(value <= self.high))

        def __contains__(self, value):
            return self.contains(value)


# Joint rates of an action of 1: pan, tilt, spin in degrees per second, depth in metres per second, grip per second.
RATES = np.array([60.0, 60.0, 180.0, 0.1, 3.0])
# Largest change of the first pan and tilt by the seed, degrees, and of the first depth, metres.
SPREAD = np.array([4.0, 4.0, 0.0, 0.01, 0.0])
# The state is scaled so that its numbers are about 1: degrees, metres and newtons that become 1.
DEGREES, METRES, NEWTONS = 45.0, 0.1, 2.0
PER_INSTRUMENT = 5 + 3 + 3 + 1  # joints; pan, tilt, depth to the next target; force; touching
NEXT = 1                        # state of the target that comes next


class TaskEnv(_Env):
    """One task.

    Action: (instruments, 6), -1 to 1: five joint rates as parts of RATES, and the pedal (above 0.5: cut).
    Observation `state`: a vector of float32: for each instrument its joints, the joints from there to the next target,
    force and contact; then the task's progress and score. `picture`: (height, width, 3) uint8.
    Reward: the change of the score, 0 to 1, so the rewards of an attempt sum up to its graded result.
    info: `task` (see Session.task), `forces`, `touched` (ids for each organ and instrument).
    """
    metadata = {'render_modes': ['rgb_array'], 'render_fps': 15}

    def __init__(self, scene, *, observation='state', frames_per_action=4, seconds=60.0, anatomy=None, level=None, backend='scan',
                 picture_size=(84, 84), allow_outside=False, render_mode='rgb_array'):
        if observation not in ('state', 'picture'):
            raise InputError(f"observation '{observation}' is unknown; choose state or picture")
        self._make = lambda: Session(scene, backend=backend, anatomy=anatomy, level=level, allow_outside=allow_outside)
        self._picture_size = picture_size if observation == 'picture' else None
        self._frames, self._seconds, self.render_mode = int(frames_per_action), float(seconds), render_mode
        self.session = self._make()
        if self.session.task is None:
            raise InputError(f'{scene}: the scene has no [task]; choose a scene with one')
        self._start = self.session.save()
        tools = len(self.session.instruments)
        self.action_space = Box(-1.0, 1.0, (tools, 6), np.float32)
        if self._picture_size:
            self.observation_space = Box(0, 255, (picture_size[1], picture_size[0], 3), np.uint8)
        else:
            self.observation_space = Box(-np.inf, np.inf, (tools * PER_INSTRUMENT + 2,), np.float32)
        self._value, self._random = 0.0, np.random.default_rng(0)

    def reset(self, *, seed=None, options=None):
        """Starts an attempt. The seed chooses where the instruments start; without one the last sequence goes on."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self.session.restore(self._start)
        spread = self._random.uniform(-1.0, 1.0, (len(self.session.instruments), 5)) * SPREAD
        self.session.drive(spread / self.session.tick)
        self._value = 0.0
        self.session.step()
        return self._observe(), self._info()

    def step(self, action):
        """Moves the instruments for frames_per_action frames."""
        action = np.clip(np.asarray(action, dtype=np.float64).reshape(self.action_space.shape), -1.0, 1.0)
        if not np.isfinite(action).all():
            raise ValueError('the action contains a number that is not finite')
        energies = ['cut' if pedal > 0.5 else 'off' for pedal in action[:, 5]]
        rates = action[:, :5] * RATES
        for _ in range(self._frames):
            self.session.drive(rates, energies)
            self.session.step()
            if self.session.task['finished']:
                break
        task = self.session.task
        before, self._value = self._value, task['score'] / 100.0
        late = task['elapsed'] >= self._seconds
        return self._observe(), self._value - before, bool(task['finished']), bool(late), self._info()

    def render(self):
        """The scope's view, (480, 640, 3) uint8."""
        return self.session.picture(640, 480)

    def close(self):
        """Nothing is left open; part of the interface."""

    def _observe(self):
        if self._picture_size:
            return self.session.picture(*self._picture_size, 'low')
        session, task = self.session, self.session.task
        joints, forces = session.joints, session.forces
        positions, states = session.targets()
        following = positions[states == NEXT]
        touching = self._touching()
        parts = []
        for tool in range(len(joints)):
            to = np.zeros(3)
            if len(following):
                to = np.array(session.joints_to(tool, following[0])) - joints[tool, [0, 1, 3]]
            parts += [joints[tool] / [DEGREES, DEGREES, DEGREES, METRES, 1.0], to / [DEGREES, DEGREES, METRES],
                      forces[tool] / NEWTONS, [float(touching[tool])]]
        parts.append([task['progress'], task['score'] / 100.0])
        return np.concatenate(parts).astype(np.float32)

    def _touching(self):
        organs = range(len(self.session.organs))
        return [any(len(self.session.touched(organ, tool)) for organ in organs)
                for tool in range(len(self.session.instruments))]

    def _info(self):
        session = self.session
        return {'task': session.task, 'forces': session.forces,
                'touched': {(organ, tool): session.touched(organ, tool)
                            for organ in session.organs for tool in session.instruments}}


class VectorTaskEnv:
    """Several attempts side by side in one process; each step runs them on threads. Attempts that end start again."""

    def __init__(self, count, scene, *, threads=None, **options):
        self.envs = [TaskEnv(scene, **options) for _ in range(count)]
        self.num_envs = count
        self.single_action_space = self.envs[0].action_space
        self.single_observation_space = self.envs[0].observation_space
        self._pool = ThreadPoolExecutor(threads)

    def reset(self, *, seed=None):
        """A seed gives each attempt its own: seed, seed + 1, ..."""
        seeds = [None if seed is None else seed + k for k in range(self.num_envs)]
        results = list(self._pool.map(lambda env, own: env.reset(seed=own), self.envs, seeds))
        return np.stack([observation for observation, _ in results]), [info for _, info in results]

    def step(self, actions):
        """actions: (attempts, instruments, 6). An attempt that ended returns the observation of its new start; its last
        one is info['final_observation']."""
        def one(env, action):
            observation, reward, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                info['final_observation'] = observation
                observation, _ = env.reset()
            return observation, reward, terminated, truncated, info
        results = list(self._pool.map(one, self.envs, actions))
        observations, rewards, terminated, truncated, infos = zip(*results)
        return np.stack(observations), np.array(rewards), np.array(terminated), np.array(truncated), list(infos)

    def close(self):
        self._pool.shutdown()
