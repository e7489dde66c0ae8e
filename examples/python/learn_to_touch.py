"""Learns to touch the targets by the cross-entropy method: a linear policy from the state to the joint rates.

    python3 examples/python/learn_to_touch.py [--scene FILE] [--rounds N] [--attempts N] [--seconds S]

Compares the learnt policy with a random one; the exit status is 0 when it earns more.
"""
import argparse
import sys
from pathlib import Path

import numpy as np
from trocar.env import VectorTaskEnv

TASK = Path(__file__).resolve().parents[2] / 'data/scenes/tasks/touch_targets.toml'
SEEN = [5, 6, 7]   # of the state: pan, tilt and depth from the first instrument to the next target
MOVED = [0, 1, 3]  # of the action: the rates of the same joints


def returns(env, policies, steps):
    """The sum of rewards of each policy in one attempt; a policy is a function of the state."""
    states, _ = env.reset(seed=0)
    total, running = np.zeros(len(policies)), np.ones(len(policies), bool)
    for _ in range(steps):
        actions = np.zeros((len(policies), *env.single_action_space.shape))
        actions[:, 0, MOVED] = [policy(state[SEEN]) for policy, state in zip(policies, states)]
        states, rewards, terminated, truncated, _ = env.step(np.clip(actions, -1, 1))
        total += np.where(running, rewards, 0.0)
        running &= ~(terminated | truncated)
    return total


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument('--scene', default=TASK)
    options.add_argument('--rounds', type=int, default=6)
    options.add_argument('--attempts', type=int, default=12)
    options.add_argument('--seconds', type=float, default=15.0)
    options = options.parse_args()
    env = VectorTaskEnv(options.attempts, options.scene, threads=2, seconds=options.seconds)
    steps = int(options.seconds * 15)
    random = np.random.default_rng(1)

    by_chance = returns(env, [lambda state: random.uniform(-1, 1, 3)] * options.attempts, steps)
    print(f'random policy: {by_chance.mean():.3f} on average')

    # A gain for each joint, of either sign; towards the target is the better guess. The spread of the best quarter is
    # that of the next round.
    mean, spread = np.full(3, 2.0), np.full(3, 2.0)
    for number in range(options.rounds):
        gains = mean + spread * random.standard_normal((options.attempts, 3))
        earned = returns(env, [lambda state, gain=gain: gain * state for gain in gains], steps)
        best = gains[np.argsort(earned)[-max(2, options.attempts // 4):]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.3
        print(f'round {number + 1}: best {earned.max():.3f}, mean {earned.mean():.3f}, gains {mean.round(2)}')
    learnt = returns(env, [lambda state: mean * state] * options.attempts, steps)[0]
    env.close()
    better = max(learnt, earned.max()) > by_chance.mean()
    print(f'learnt policy: {learnt:.3f}, {"better than" if better else "no better than"} the random policy')
    return 0 if better else 1


if __name__ == '__main__':
    sys.exit(main())
