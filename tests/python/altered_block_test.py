"""Tests Session.restore() with blocks of saved sessions that somebody has altered, with the right checksum: each is refused
with one sentence and changes nothing, or is harmless. altered_block_test.py [ALTERATIONS [SEED]] tries more of them."""
import os
import struct
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import trocar
from small_sessions import Block, clipped_duct, cut_pair, is_finite, pressed_ball

ALTERATIONS, SEED = 60, 1  # of each session


def try_alteration(session, block, seed):
    """'refused', or 'restored' when 3 and 30 steps later all is finite; otherwise what is wrong."""
    altered = block.altered(seed)
    try:
        session.restore(altered)
    except trocar.InputError as error:
        if not str(error).startswith(('the saved session', 'this is not', 'the session was')) or '\n' in str(error):
            return f'says "{error}"'
        return 'refused'
    for frames in (3, 27):
        session.step(frames)
        if not is_finite(session):
            return f'not finite after {frames} steps'
    session.restore(block.state)
    return 'restored' if session.save() == block.state else 'something altered is left'


def try_alterations(session, seeds):
    """Runs in forked processes, since a crash ends them: {verdict: seeds}."""
    block, verdicts, left = Block(session.save()), {}, list(seeds)
    while left:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            for seed in left:
                os.write(writing, f'{seed} {try_alteration(session, block, seed)}\n'.encode())
            os._exit(0 if session.save() == block.state else 3)
        os.close(writing)
        with os.fdopen(reading) as said:
            lines = said.read().splitlines()
        _, status = os.waitpid(child, 0)
        for line in lines:
            seed, verdict = line.split(' ', 1)
            verdicts.setdefault(verdict, []).append(int(seed))
        left = left[len(lines):]
        if status != 0:
            verdicts.setdefault(f'crash or change, status {status}', []).append(left.pop(0) if left else 'end')
    return verdicts


class AlteredBlocks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name)

    def check(self, session):
        session.step(2)
        verdicts = try_alterations(session, range(1000 * SEED, 1000 * SEED + ALTERATIONS))
        counts = {verdict: len(seeds) for verdict, seeds in verdicts.items()}
        print(f'{len(session.save())} bytes, seeds from {1000 * SEED}: {counts}')
        wrong = {verdict: seeds[:3] for verdict, seeds in verdicts.items() if verdict not in ('refused', 'restored')}
        self.assertEqual(wrong, {})
        self.assertGreater(counts.get('refused', 0), ALTERATIONS // 4)

    def test_a_pressed_organ(self):
        self.check(pressed_ball(self.path))

    def test_a_pressed_organ_of_the_law_rising(self):
        self.check(pressed_ball(self.path, 'rising'))

    def test_organs_that_were_burnt_cut_and_gripped(self):
        self.check(cut_pair(self.path))

    def test_a_vessel_with_a_clip(self):
        self.check(clipped_duct(self.path))

    def test_a_refused_block_changes_nothing(self):
        session = pressed_ball(self.path)
        state, touched, time = session.save(), session.touched('ball', 'probe'), session.time
        twin = pressed_ball(self.path)
        block = Block(state)
        huge = struct.pack('<f', 1e30)
        x = first_node(block.body)
        for words in ({x: huge}, {x + 4: struct.pack('<f', float('nan'))}, {0: struct.pack('<I', 7)}):
            with self.assertRaisesRegex(trocar.InputError, 'the saved session'):
                session.restore(block.with_words(words))
            self.assertEqual(session.save(), state)
            np.testing.assert_array_equal(session.touched('ball', 'probe'), touched)
            self.assertEqual(session.time, time)
        with self.assertRaises(trocar.InputError):
            session.restore(block.with_body(block.body + b'\0'))
        session.step(10), twin.step(10)
        self.assertEqual(session.save(), twin.save())

    def test_what_is_wrong_is_named(self):
        session = pressed_ball(self.path)
        block = Block(session.save())
        x = first_node(block.body)
        with self.assertRaisesRegex(trocar.InputError, 'organ ball: a node is more than 10 m'):
            session.restore(block.with_words({x: struct.pack('<f', 1e30)}))
        corner = block.body.index(session.faces('ball').tobytes())
        with self.assertRaisesRegex(trocar.InputError, 'organ ball: a corner of a face'):
            session.restore(block.with_words({corner: struct.pack('<I', 1 << 20)}))


def first_node(body):
    """The offset of the first position of a node: two lists of one length follow each other, positions and speeds."""
    for at in range(len(body) - 16):
        count, = struct.unpack_from('<Q', body, at)
        if not 50 < count < 20000 or at + 16 + 24 * count > len(body):
            continue
        if struct.unpack_from('<Q', body, at + 8 + 12 * count)[0] != count:
            continue
        x = np.frombuffer(body, np.float32, 3 * count, at + 8)
        v = np.frombuffer(body, np.float32, 3 * count, at + 16 + 12 * count)
        if np.isfinite(x).all() and 0.02 < np.abs(x).max() < 0.1 and np.isfinite(v).all() and np.any(v):
            return at + 8
    raise AssertionError('no nodes')


if __name__ == '__main__':
    numbers = [int(number) for number in sys.argv[1:] if number.isdigit()]
    sys.argv = sys.argv[:1]
    ALTERATIONS, SEED = (numbers + [ALTERATIONS, SEED][len(numbers):])[:2]
    unittest.main()
