"""Blocks of saved sessions with changed words and a renewed checksum, as a stranger or a damaged pickle may bring them;
the small sessions that they are tried on; and scenes with coarse lattices, which are several times as fast."""
import random
import re
import struct
from pathlib import Path

import numpy as np
import trocar

HEADER = 32       # bytes; the last 8 are the checksum of what follows
STRIDE = 4096     # bytes between known checksums
PRIME, ALL_BITS = 1099511628211, (1 << 64) - 1
FLOATS = (float('nan'), float('inf'), -float('inf'), 1e30, -1e30, 1e19, 1e9, -1e4, 0.0, 1.0)
WORDS = (0xffffffff, 0x7fffffff, 0x80000000, 0x00ffffff, 0x0000ffff, 0, 1, 2)


def checksum(data, sum=14695981039346656037):
    for byte in data:
        sum = ((sum ^ byte) * PRIME) & ALL_BITS
    return sum


class Block:
    """A saved state whose alterations get the right checksum."""

    def __init__(self, state):
        self.state, self.body = state, state[HEADER:]
        self.sums = [checksum(b'')]  # of the first k * STRIDE bytes
        for start in range(0, len(self.body) - STRIDE, STRIDE):
            self.sums.append(checksum(self.body[start:start + STRIDE], self.sums[-1]))

    def with_words(self, words):
        """The block with {offset in the body: 4 bytes}."""
        body = bytearray(self.body)
        for at, word in words.items():
            body[at:at + 4] = word
        return self._sealed(body, min(words))

    def with_body(self, body):
        return self._sealed(bytearray(body), 0)

    def _sealed(self, body, first):
        known = min(first // STRIDE, len(self.sums) - 1)
        sum = checksum(body[known * STRIDE:], self.sums[known])
        return self.state[:HEADER - 8] + struct.pack('<Q', sum) + bytes(body)

    def altered(self, seed):
        """Changes one to three words in one of several ways."""
        draw = random.Random(seed)
        words = {}
        for _ in range(draw.randrange(1, 4)):
            at = draw.randrange(len(self.body) - 3)
            old, = struct.unpack_from('<I', self.body, at)
            words[at] = draw.choice((
                lambda: struct.pack('<I', draw.choice(WORDS)),
                lambda: struct.pack('<I', draw.getrandbits(32)),
                lambda: struct.pack('<f', draw.choice(FLOATS)),
                lambda: struct.pack('<f', draw.uniform(-2, 2) * 10.0 ** draw.randrange(-6, 7)),
                lambda: struct.pack('<I', (old + draw.choice((-1, 1, 7, -100))) & 0xffffffff),
                lambda: struct.pack('<I', old ^ 1 << draw.randrange(32))))()
        return self.with_words(words)


def ball(folder, radius=0.03, centre=(0.0, 0.0, 0.0), name='ball', parallels=10):
    """Saves a sphere of triangles."""
    meridians = 2 * parallels
    points = [[0, 0, 1]]
    for i in range(1, parallels):
        polar = np.pi * i / parallels
        points += [[np.sin(polar) * np.cos(a), np.sin(polar) * np.sin(a), np.cos(polar)]
                   for a in 2 * np.pi * np.arange(meridians) / meridians]
    points.append([0, 0, -1])
    last = len(points) - 1
    at = lambda i, j: 1 + (i - 1) * meridians + j % meridians
    faces = []
    for j in range(meridians):
        faces.append([0, at(1, j), at(1, j + 1)])
        faces.append([last, at(parallels - 1, j + 1), at(parallels - 1, j)])
        for i in range(1, parallels - 1):
            faces += [[at(i, j), at(i + 1, j), at(i + 1, j + 1)], [at(i, j), at(i + 1, j + 1), at(i, j + 1)]]
    trocar.Mesh(np.array(points) * radius + centre, faces).save(folder / f'{name}.obj')


def organ(name, x, more=''):
    return (f'[[organ]]\nname = "{name}"\nmesh = "{name}.obj"\n[organ.tissue]\n{more}node_spacing_mm = 10\n'
            f'[[organ.attachment]]\ncentre_mm = [{x}, 0, -30]\nradius_mm = 18\ndiaphragm = true\n')


def instrument(kind, script, tip=32):
    return (f'[[instrument]]\nname = "{kind}"\nkind = "{kind}"\npivot_mm = [0, 20, 150]\ntip_mm = [0, 0, {tip}]\n'
            f'radius_mm = 3\ndevice = "script"\nscript = "{script}"\n')


def pressed_ball(folder, law='springs'):
    """One organ that a probe presses."""
    ball(folder)
    scene = folder / f'pressed_{law}.toml'
    scene.write_text('schema = 2\n' + organ('ball', 0, f'law = "{law}"\n') + instrument('probe', 'press'))
    session = trocar.Session(scene, backend='scan', driver='scripts')
    session.step(40)
    return session


def cut_pair_session(folder, backend='scan'):
    """Two organs that touch and breathe; in 130 frames one is pressed, gripped, burnt and cut, and bleeds."""
    ball(folder, name='left'), ball(folder, 0.024, (0.056, 0.0, 0.0), 'right')
    bleeds, voxels = '[organ.blood]\nrate_ml_min_cm2 = 5\n', '[organ.cut]\nvoxels_per_cell = 3\n'
    scene = folder / 'cut_pair.toml'
    scene.write_text('schema = 2\n[breathing]\namplitude_mm = 5\nrate_hz = 1\ndirection = [1, 0, 0]\n'
                     + organ('left', 0) + bleeds + voxels + organ('right', 56) + voxels
                     + ''.join(instrument(*pair, tip=27) for pair in (('probe', 'press'), ('grasper', 'pull'), ('hook', 'burn'),
                                                              ('scissors', 'press'))))
    return trocar.Session(scene, backend=backend, driver='scripts')


def cut_pair(folder):
    session = cut_pair_session(folder)
    before = len(session.faces('left'))
    session.step(130)
    assert len(session.faces('left')) != before, 'nothing was cut'
    return session


DUCT = '''schema = 2
[[organ]]
name = "duct"
[organ.tube]
path_mm = [[0, 0, 0], [20, 0, 0], [50, 0, 0]]
radius_mm = 2
[organ.tissue]
youngs_modulus = 60000
density = 20000
damping_ms = 0.1
node_spacing_mm = 4
friction = 0.8
[[organ.attachment]]
centre_mm = [0, 0, 0]
radius_mm = 5
[organ.vessel]
rate_ml_min = 40
half_time_s = 20
[[band]]
name = "pull"
organ = "duct"
from_start_mm = [49, -1, 0]
from_end_mm = [49, 1, 0]
to_start_mm = [89, -1, 0]
to_end_mm = [89, 1, 0]
strands = 4
modulus = 100000
section_mm2 = 10
rest_strain = 0.25
break_strain = 2
[[instrument]]
name = "applier"
kind = "clip-applier"
pivot_mm = [15, 0, 150]
tip_mm = [15, 0, 60]
radius_mm = 2.5
[instrument.limits]
widest_grip_deg = 40
[instrument.clip]
length_mm = 8.5
magazine = 20
holds_n = 8
[[instrument]]
name = "scissors"
kind = "scissors"
pivot_mm = [30, 0, 150]
tip_mm = [30, 0, 60]
radius_mm = 2.5
'''


def clipped_duct(folder):
    """A vessel with a clip, divided beyond it, that a band pulls."""
    scene = folder / 'duct.toml'
    scene.write_text(DUCT)
    session = trocar.Session(scene, backend='scan')

    def use(tool, x, z, aperture):
        height, grip = 0.06, 1.0

        def go(to, open_to):
            nonlocal height, grip
            while abs(to - height) > 5e-4 or abs(open_to - grip) > 0.01:
                height += float(np.clip(to - height, -1e-3, 1e-3))
                grip += float(np.clip(open_to - grip, -0.05, 0.05))
                session.move(tool, [x, 0.0, height], grip=grip)
                session.step()
        for to, open_to in ((0.04, aperture), (z, aperture), (z, 0.0), (z, 1.0), (0.04, 1.0)):
            go(to, open_to)
        session.step(5)
    use('applier', 0.015, -0.002, 1.0)
    use('scissors', 0.030, -0.006, 0.5)
    return session


def is_finite(session):
    return all(np.isfinite(session.positions(organ)).all() for organ in session.organs) and \
        np.isfinite(session.forces).all() and np.isfinite(session.tips).all()


def coarse_scene(scene, folder):
    """The copy of a scene in `folder`. Its organs are those of the original."""
    text = re.sub(r'"((?:\.\./)+organs)/', lambda found: f'"{(scene.parent / found[1]).resolve()}/', scene.read_text())
    text, lattices = re.subn(r'node_spacing_mm = 9\b', 'node_spacing_mm = 18', text)
    assert lattices > 0, scene
    copy = folder / f'coarse_{scene.name}'
    copy.write_text(text)
    return copy
