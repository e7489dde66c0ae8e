"""Tests meshes and touch queries in Python, against the command line and the reference."""
import csv
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import trocar

ROOT = Path(__file__).resolve().parents[2]
LIVER = ROOT / 'data/organs/liver.obj'
PROGRAM = None  # the trocar program


def a_tool(mesh, shift=0.0):
    first = mesh.positions[0].astype(float)
    return trocar.Tool(first + [0, 0, 0.2], first + [0.01 + shift, 0, 0], tip_before=first)


class Meshes(unittest.TestCase):
    def test_arrays_are_views_and_cannot_be_written(self):
        mesh = trocar.load_mesh(LIVER)
        self.assertEqual((mesh.positions.dtype, mesh.positions.shape[1]), (np.float32, 3))
        self.assertEqual((mesh.faces.dtype, mesh.faces.shape), (np.uint32, (20000, 3)))
        self.assertEqual(mesh.positions.__array_interface__['data'], mesh.positions.__array_interface__['data'])
        with self.assertRaises(ValueError):
            mesh.positions[0] = 0
        positions = mesh.positions
        del mesh
        self.assertTrue(np.isfinite(positions).all(), 'the view keeps the mesh alive')

    def test_repair_closes_what_was_cut_open(self):
        liver = trocar.load_mesh(LIVER)
        faces = liver.faces[~np.isin(liver.faces, [100, 900]).any(axis=1)]
        cut = trocar.Mesh(liver.positions, faces)
        self.assertFalse(cut.report()['sound'])
        whole, changes = cut.repair()
        self.assertTrue(whole.report()['fit_for_simulation'])
        self.assertEqual(changes['closed_holes'], 2)
        self.assertEqual(changes['new_faces'], len(whole) - len(cut))
        self.assertLess(changes['farthest'], 0.005)
        with self.assertRaisesRegex(trocar.InputError, 'boundary'):
            cut.repair(longest_boundary=0.001)

    def test_report_is_that_of_mesh_check(self):
        report = trocar.load_mesh(LIVER).report()
        self.assertTrue(report['sound'] and report['fit_for_simulation'] and report['closed'])
        said = subprocess.run([PROGRAM, 'mesh', 'info', LIVER], capture_output=True, text=True, check=True).stdout
        self.assertIn(f"volume        {report['volume'] * 1e6:.2f} ml", said)

    def test_save_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            mesh = trocar.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
            mesh.save(Path(folder) / 'a.ply')
            again = trocar.load_mesh(Path(folder) / 'a.ply')
            np.testing.assert_array_equal(again.positions, mesh.positions)
            np.testing.assert_array_equal(again.faces, mesh.faces)

    def test_parts_of_a_gltf_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / 'a.glb'
            mesh = trocar.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
            mesh.save(file)
            [(name, part)] = trocar.load_mesh_parts(file)
            self.assertEqual(name, 'node 0')
            np.testing.assert_array_equal(part.positions, mesh.positions)
            np.testing.assert_array_equal(trocar.load_mesh(file).faces, mesh.faces)

    def test_errors_are_exceptions_with_one_sentence(self):
        with self.assertRaisesRegex(trocar.InputError, 'absent.obj'):
            trocar.load_mesh('absent.obj')
        with self.assertRaisesRegex(trocar.InputError, 'face 0 uses vertex 3'):
            trocar.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 3]])
        for positions in ([[0, 0]], [0, 0, 0], [[[0, 0, 0]]]):
            with self.assertRaisesRegex(ValueError, r'positions: an array of shape \(n, 3\)'):
                trocar.Mesh(positions, [[0, 0, 0]])
        self.assertTrue(issubclass(trocar.InputError, ValueError) and issubclass(trocar.RunError, RuntimeError))


class Queries(unittest.TestCase):
    def test_every_backend_agrees_with_the_reference(self):
        mesh = trocar.load_mesh(LIVER)
        tools = [a_tool(mesh), a_tool(mesh, 0.05)]
        for wanted in ('exact', 'volume'):
            references = [trocar.reference(mesh, tool, wanted) for tool in tools]
            self.assertGreater(len(references[0][0]), 10)
            for backend in trocar.backends():
                try:
                    query = trocar.TouchQuery(mesh, backend)
                except trocar.InputError:
                    continue  # not on this machine
                touches = query.touched(tools, wanted)
                for k, (faces, borderline) in enumerate(references):
                    differing = set(touches.faces[touches.tools == k].tolist()) ^ set(faces.tolist())
                    self.assertLessEqual(differing, set(borderline.tolist()), f'{backend} {wanted}')

    def test_query_equals_the_command_line_bit_for_bit(self):
        mesh = trocar.load_mesh(LIVER)
        rows, previous, expected = [], None, []
        pivot = mesh.positions[0].astype(float) + [0, 0, 0.25]
        for frame in range(12):
            tip = mesh.positions[37 * frame].astype(float)
            rows.append([frame / 60, *(1e3 * pivot), *(1e3 * tip)])
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            with open(folder / 'T.csv', 'w', newline='') as file:
                out = csv.writer(file)
                out.writerow('t pivot_x pivot_y pivot_z tip_x tip_y tip_z'.split())
                out.writerows([[repr(float(value)) for value in row] for row in rows])
            subprocess.run([PROGRAM, 'query', '--mesh', LIVER, '--trajectory', folder / 'T.csv', '--radius', '2.5', '--backend',
                            'scan', '--out', folder / 'out.csv', '--json', folder / 'out.json'], check=True,
                           capture_output=True)
            rows_written = (folder / 'out.csv').read_text().splitlines()[1:]
            written = [tuple(map(int, row.split(','))) for row in rows_written]
            details = json.loads((folder / 'out.json').read_text())['touches']
            loaded = [[float(repr(float(value))) for value in row] for row in rows]
        query = trocar.TouchQuery(mesh, 'scan')
        depths = []
        for frame, row in enumerate(loaded):
            tip = np.array(row[4:]) * 1e-3
            tool = trocar.Tool(np.array(row[1:4]) * 1e-3, tip, tip_before=previous)
            touches = query.touched([tool])
            expected += [(frame, int(face)) for face in touches.faces]
            depths += touches.depths.tolist()
            previous = tip
        self.assertGreater(len(expected), 50)
        self.assertEqual(written, expected)
        self.assertEqual([touch['depth_mm'] for touch in details], [depth * 1e3 for depth in depths])

    def test_positions_are_read_in_place_and_their_shape_is_checked(self):
        mesh = trocar.load_mesh(LIVER)
        query = trocar.TouchQuery(mesh, 'scan')
        moved = mesh.positions + np.float32(0.5)
        query.update(moved)
        self.assertEqual(len(query.touched([a_tool(mesh)])), 0)
        query.update(mesh.positions.astype(np.float64))  # converted
        self.assertGreater(len(query.touched([a_tool(mesh)])), 0)
        with self.assertRaisesRegex(ValueError, 'vertices, not 5'):
            query.update(np.zeros((5, 3), np.float32))
        self.assertGreater(query.times['total_ms'], 0)

    def test_impossible_positions_are_refused_by_every_backend(self):
        mesh = trocar.load_mesh(LIVER)
        tools = [a_tool(mesh)]
        for backend in trocar.backends():
            try:
                query = trocar.TouchQuery(mesh, backend)
            except trocar.InputError:
                continue  # not on this machine
            expected = query.touched(tools).faces
            for at, wrong in ((5, np.inf), (len(mesh.positions) - 1, np.nan), (0, -1e30), (7, 1001.0), (0, 1e300)):
                moved = mesh.positions.astype(np.float64)
                moved[at, 1] = wrong
                with self.assertRaisesRegex(trocar.InputError, f'positions: vertex {at} is at', msg=backend):
                    query.update(moved)
            np.testing.assert_array_equal(query.touched(tools).faces, expected)

    def test_arrays_at_every_door(self):
        corners, face = np.eye(3), [[0, 1, 2]]
        for wrong in (np.inf, np.nan, 1e30):
            bad = corners.copy()
            bad[1, 2] = wrong
            with self.assertRaisesRegex(trocar.InputError, 'positions: vertex 1'):
                trocar.Mesh(bad, face)
            mesh = trocar.Mesh(corners, face)
            with self.assertRaisesRegex(trocar.InputError, 'first_after: vertex 1'):
                trocar.meet(mesh, bad, mesh, corners)
            with self.assertRaisesRegex(trocar.InputError, 'second_after: vertex 1'):
                trocar.meet(mesh, corners, mesh, bad)
            for name in ('pivot', 'tip', 'tip_before'):
                places = {'pivot': [0, 0, 1], 'tip': [0, 0, 0], 'tip_before': [0, 0, 0], name: [0, wrong, 0]}
                with self.assertRaisesRegex(trocar.InputError, f'{name}: a coordinate'):
                    trocar.Tool(**places)
        for wrong in (corners + 0j, [['a'] * 3] * 3, [[None] * 3] * 3):
            with self.assertRaisesRegex(trocar.InputError, 'positions: an array of real numbers'):
                trocar.Mesh(wrong, face)
        for wrong in ([[0, 1, 2.5]], [[0, 1, 2 + 0j]], np.array([[0, 1, 2]], float)):
            with self.assertRaisesRegex(trocar.InputError, 'faces: an array of whole numbers'):
                trocar.Mesh(corners, wrong)
        for wrong in (-1, 2**32, 2**32 + 1, 2**63):
            with self.assertRaisesRegex(trocar.InputError, 'faces: |face 0 uses vertex'):
                trocar.Mesh(corners, np.array([[0, 1, wrong]], np.uint64 if wrong > 0 else np.int64))
        mesh = trocar.Mesh(corners, np.array(face, np.int16))
        for wrong in (0, -1, np.nan, np.inf):
            with self.assertRaisesRegex(trocar.InputError, 'tolerance'):
                trocar.meet(mesh, corners, mesh, corners, wrong)

    def test_wrong_arguments(self):
        mesh = trocar.load_mesh(LIVER)
        query = trocar.TouchQuery(mesh, 'scan')
        with self.assertRaisesRegex(trocar.InputError, "unknown backend 'fast'"):
            trocar.TouchQuery(mesh, 'fast')
        with self.assertRaisesRegex(trocar.InputError, "set 'all' is unknown"):
            query.touched([], 'all')
        with self.assertRaisesRegex(ValueError, 'tip: three numbers'):
            trocar.Tool([0, 0, 1], [0, 0])
        with self.assertRaisesRegex(ValueError, 'not a finite number'):
            trocar.Tool([0, 0, 1], [0, 0, float('nan')])
        with self.assertRaisesRegex(trocar.InputError, 'radius'):
            query.touched([trocar.Tool([0, 0, 1], [0, 0, 0], radius=-1)])
        self.assertEqual(len(query.touched([])), 0)

    def test_meet_is_conservative_and_early(self):
        square = trocar.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
        above = trocar.Mesh([[0, 0, 1], [1, 0, 1], [0, 1, 1]], [[0, 1, 2]])
        pairs, times = trocar.meet(square, square.positions + np.float32([0, 0, 2]), above, above.positions)
        self.assertEqual(pairs.tolist(), [[0, 0]])
        self.assertLessEqual(times[0], 0.5)
        self.assertGreater(times[0], 0.499)
        pairs, _ = trocar.meet(square, square.positions, above, above.positions)
        self.assertEqual(pairs.shape, (0, 2))


if __name__ == '__main__':
    PROGRAM = sys.argv.pop(1)
    unittest.main()
