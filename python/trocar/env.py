"""Tasks as environments with the Gymnasium interface.

    env = TaskEnv('data/scenes/tasks/touch_targets.toml')
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

The gymnasium package is not needed; where it is installed, its spaces and base class are used, and
gymnasium.make('trocar.env:trocar/Task-v0', scene=...) makes a TaskEnv. The same seed and the same actions give the same
bits, on every machine.
"""
import math
import operator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ._trocar import InputError, RunError, Session

try:
    import gymnasium
    from gymnasium import Env as _Env
    from gymnasium.spaces import Box
except ImportError:
    gymnasium = None

    class _Env:
        """The random numbers of an environment, as gymnasium.Env has them."""
        spec = None
        _np_random = None

        @property
        def np_random(self):
            if self._np_random is None:
                self._np_random = np.random.default_rng()
            return self._np_random

        def reset(self, *, seed=None, options=None):
            if seed is not None:
                self._np_random = np.random.default_rng(seed)

        @property
        def unwrapped(self):
            return self

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


def _whole(name, value, least, most):
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        raise InputError(f'{name} is {value!r}; choose a whole number from {least} to {most}')
    return number


def _numbers(name, value, shape):
    """An array of this shape of finite real numbers, as float64."""
    try:
        numbers = np.asarray(value)
    except ValueError:
        numbers = np.asarray(None)
    if numbers.dtype.kind not in 'fiu' or numbers.shape != tuple(shape):
        raise InputError(f'{name}: an array of real numbers of shape {tuple(shape)} is needed, '
                         f'not of {numbers.dtype} and shape {numbers.shape}')
    numbers = numbers.astype(np.float64)
    if not np.isfinite(numbers).all():
        at = tuple(int(k) for k in np.argwhere(~np.isfinite(numbers))[0])
        raise InputError(f'{name}: the number at {at} is {numbers[at]}, which is not finite')
    return numbers


class Touched(dict):
    """Ids of touched faces: touched[organ][instrument], also touched[organ, instrument], is an ascending tuple."""

    def __missing__(self, key):
        if not isinstance(key, tuple) or len(key) != 2:
            raise KeyError(key)
        organ, instrument = key
        return self[organ][instrument]

    def __contains__(self, key):
        if isinstance(key, tuple) and len(key) == 2:
            return super().__contains__(key[0]) and key[1] in self[key[0]]
        return super().__contains__(key)


class TaskEnv(_Env):
    """One task.

    Action: (instruments, 6), -1 to 1: five joint rates as parts of RATES, and the pedal (above 0.5: cut).
    Observation `state`: a vector of float32: for each instrument its joints, the joints from there to the next target,
    force and contact; then the task's progress and score. `picture`: (height, width, 3) uint8.
    Reward: the change of the score, 0 to 1, so the rewards of an attempt sum up to its graded result.
    info: `task` (see Session.task), `forces`, `touched` (see Touched).
    A copy, by pickle or copy, is a new environment with the same arguments and random numbers; reset it first.
    """
    metadata = {'render_modes': ['rgb_array'], 'render_fps': 15}

    def __init__(self, scene, *, observation='state', frames_per_action=4, seconds=60.0, anatomy=None, level=None, backend='scan',
                 picture_size=(84, 84), allow_outside=False, render_mode='rgb_array'):
        self._arguments = {'scene': scene, 'observation': observation, 'frames_per_action': frames_per_action,
                           'seconds': seconds, 'anatomy': anatomy, 'level': level, 'backend': backend,
                           'picture_size': picture_size, 'allow_outside': allow_outside, 'render_mode': render_mode}
        self.session, self._attempt = None, False  # closed; no attempt has begun
        if observation not in ('state', 'picture'):
            raise InputError(f"observation '{observation}' is unknown; choose state or picture")
        if render_mode not in (None, 'rgb_array'):
            raise InputError(f"render_mode '{render_mode}' is unknown; choose rgb_array or None")
        self._frames = _whole('frames_per_action', frames_per_action, 1, 100000)
        self._seconds = float(seconds)
        if not (self._seconds > 0.0 and math.isfinite(self._seconds)):
            raise InputError(f'seconds is {seconds!r}; choose a finite time above 0')
        if len(picture_size) != 2:
            raise InputError(f'picture_size is {picture_size!r}; choose (width, height)')
        size = tuple(_whole('picture_size', side, 1, 8192) for side in picture_size)
        self._picture_size = size if observation == 'picture' else None
        self.render_mode = render_mode
        session = Session(scene, backend=backend, anatomy=anatomy, level=level, allow_outside=allow_outside)
        if session.task is None:
            raise InputError(f'{scene}: the scene has no [task]; choose a scene with one')
        self._start = session.save()
        tools = len(session.instruments)
        self.action_space = Box(-1.0, 1.0, (tools, 6), np.float32)
        if self._picture_size:
            self.observation_space = Box(0, 255, (size[1], size[0], 3), np.uint8)
        else:
            self.observation_space = Box(-np.inf, np.inf, (tools * PER_INSTRUMENT + 2,), np.float32)
        self._value = 0.0
        self.session = session

    def __getstate__(self):
        return {'arguments': self._arguments, 'random': self._np_random, 'spec': self.spec}

    def __setstate__(self, state):
        self.__init__(**state['arguments'])
        self._np_random, self.spec = state['random'], state['spec']

    def reset(self, *, seed=None, options=None):
        """Starts an attempt. The random numbers choose where the instruments start. Without a seed, the first reset
        draws one from the operating system, and later ones go on with the sequence."""
        self._require_open()
        super().reset(seed=None if seed is None else operator.index(seed), options=options)
        self.session.restore(self._start)
        spread = self.np_random.uniform(-1.0, 1.0, (len(self.session.instruments), 5)) * SPREAD
        self.session.drive(spread / self.session.tick)
        self._value, self._attempt = 0.0, True
        self.session.step()
        return self._observe(), self._info()

    def step(self, action):
        """Moves the instruments for frames_per_action frames."""
        return self._move(self._checked(action))

    def render(self):
        """The scope's view, (480, 640, 3) uint8; None without a render mode."""
        self._require_attempt()
        return self.session.picture(640, 480) if self.render_mode else None

    def close(self):
        """Frees the session. Only close() may follow."""
        self.session = None

    def _require_open(self):
        if self.session is None:
            raise RunError('the environment is closed; make another')

    def _require_attempt(self):
        self._require_open()
        if not self._attempt:
            raise RunError('no attempt has begun; call reset() first')

    def _checked(self, action):
        self._require_attempt()
        return np.clip(_numbers('action', action, self.action_space.shape), -1.0, 1.0)

    def _move(self, action):
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
                'touched': Touched({organ: {tool: tuple(session.touched(organ, tool).tolist())
                                            for tool in session.instruments} for organ in session.organs})}


class VectorTaskEnv:
    """Several attempts side by side in one process; each step runs them on threads. Attempts that end start again."""

    def __init__(self, count, scene, *, threads=None, **options):
        self.num_envs = _whole('count', count, 1, 100000)
        if threads is not None:
            threads = _whole('threads', threads, 1, 100000)
        self.envs = [TaskEnv(scene, **options) for _ in range(self.num_envs)]
        self.single_action_space = self.envs[0].action_space
        self.single_observation_space = self.envs[0].observation_space
        self._pool = ThreadPoolExecutor(threads)

    def reset(self, *, seed=None):
        """A seed gives each attempt its own: seed, seed + 1, ... Without one the attempts differ, as for TaskEnv."""
        for env in self.envs:
            env._require_open()
        seeds = [None if seed is None else operator.index(seed) + k for k in range(self.num_envs)]
        results = list(self._pool.map(lambda env, own: env.reset(seed=own), self.envs, seeds))
        return np.stack([observation for observation, _ in results]), [info for _, info in results]

    def step(self, actions):
        """actions: (attempts, instruments, 6), all checked before an attempt moves. An attempt that ended returns the
        observation of its new start; its last one is info['final_observation']."""
        for env in self.envs:
            env._require_attempt()
        actions = np.clip(_numbers('actions', actions, (self.num_envs, *self.single_action_space.shape)), -1.0, 1.0)

        def one(env, action):
            observation, reward, terminated, truncated, info = env._move(action)
            if terminated or truncated:
                info['final_observation'] = observation
                observation, _ = env.reset()
            return observation, reward, terminated, truncated, info
        results = list(self._pool.map(one, self.envs, actions))
        observations, rewards, terminated, truncated, infos = zip(*results)
        return np.stack(observations), np.array(rewards), np.array(terminated), np.array(truncated), list(infos)

    def close(self):
        self._pool.shutdown()
        for env in self.envs:
            env.close()


if gymnasium is not None and 'trocar/Task-v0' not in gymnasium.registry:
    gymnasium.register(id='trocar/Task-v0', entry_point='trocar.env:TaskEnv')
