#!/usr/bin/python3
"""Makes a mutation run: changes the code in small ways and counts the changes that no test notices.

    ./run mutate [FOLDER...] [--seed N] [--sample 300] [--jobs 2]

All mutants of the chosen folders are built into one scratch copy (build/mutate); an environment variable selects the
active one (sites.py, tree.py). A trace finds which tests reach which mutants. Each sampled mutant then runs against
those tests, cheapest first, until one fails. The report is printed and written to build/mutate/report.json and
report.txt. By hand, not in CI.
Tested by tests/mutate/mutate_test.py
"""
import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import shader_sites
import sites
from tests_of import Programs
from tree import Tree

SOURCE = Path(__file__).resolve().parents[2]
STUDY = ['study_trees', 'study_solids', 'study_broad_phase', 'study_shapes']
COLLISION = ['reference', 'part', 'scan', 'scan_allocation', 'change_faces', 'obb', 'solids', 'broad_phase'] + STUDY[:3]
# [folder] the mutated files (paths, or patterns of pathlib), and the test programs that may detect the mutants
FOLDERS = {
    'geometry': (['geometry/**/*.cpp', 'geometry/**/*.hpp'],
                 ['elementary', 'printable', 'line_triangle', 'convex_clip', 'tool_volume', 'closest', 'refine', 'planar',
                  'part', 'reference', 'scan', 'change_faces', 'study_trees']),
    'cpu_collision': (['cpu_collision/**/*.cpp', 'cpu_collision/**/*.hpp'], COLLISION),
    'study': (['study/**/*.cpp', 'study/**/*.hpp'], ['planar'] + STUDY),
    'shaders': (['gpu_collision/shaders/*'], ['compute', 'drawn_query']),
    'score': (['sim/score/*.cpp', 'sim/score/*.hpp'], ['sim_session', 'sim_recorded', 'app_report']),
    'guard': (['sim/device/device_guard.*', 'sim/device/haptics.*'],
              ['sim_session']),
}
NOT_SAMPLED = {'none', 'boundary of reals'}   # the second: two real numbers are practically never equal to the last bit
BUDGET = 600.0                                # s  of tests for one mutant


def arguments():
    parser = argparse.ArgumentParser(prog='./run mutate', description=__doc__.split('\n')[0])
    parser.add_argument('folders', nargs='*', metavar='FOLDER', help='of: ' + ', '.join(FOLDERS))
    parser.add_argument('--seed', type=int, default=None, help='seed of the sample; printed')
    parser.add_argument('--sample', type=int, default=300, help='mutants per folder')
    parser.add_argument('--jobs', type=int, default=os.cpu_count(), help='compilers, then tests, that run at the same time')
    parser.add_argument('--only', default='', help='sample only mutants whose file:line contains this text')
    options = parser.parse_args()
    for folder in options.folders:
        if folder not in FOLDERS:
            parser.error(f'{folder} is not one of {", ".join(FOLDERS)}')
    options.folders = options.folders or list(FOLDERS)
    options.seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 31)
    return options


def files_of(folder):
    return sorted({str(p.relative_to(SOURCE)) for pattern in FOLDERS[folder][0] for p in SOURCE.glob(pattern)
                   if p.suffix in ('.cpp', '.hpp')})


class Numbers:
    """Numbers the mutants; the uses of one named constant share their mutants."""

    def __init__(self):
        self.mutants, self.shared = [], {}

    def give(self, edit, folder):
        key = edit.shared and (folder,) + edit.shared
        if key in self.shared:
            edit.mutants = self.shared[key]
            return
        if key:
            self.shared[key] = edit.mutants
        for mutant in edit.mutants:
            mutant.number, mutant.folder = len(self.mutants), folder
            self.mutants.append(mutant)


def find_sites(tree, folders):
    numbers, arguments_of = Numbers(), tree.arguments()
    for folder in folders:
        for name in files_of(folder):
            edits = sites.find(str(tree.root / name), name, arguments_of(name))
            if edits is None:
                tree.unmutated.append(name)
                continue
            for edit in edits:
                numbers.give(edit, folder)
            tree.edits[name] = edits
    for mutant in numbers.mutants:
        if mutant.file.startswith('/'):
            mutant.file = os.path.relpath(mutant.file, tree.root)
    return numbers.mutants


def alive_sites(tree):
    return {m.number for edits in tree.edits.values() for edit in edits for m in edit.mutants}


def build(options, work):
    tree = Tree(SOURCE, work, options.jobs)
    print(f'copying to {tree.root}', flush=True)
    tree.copy()
    tree.write_all(1)
    tree.configure()
    print('looking for sites', flush=True)
    mutants = find_sites(tree, [f for f in options.folders if f != 'shaders'])
    targets = sorted({f'test_{name}' for folder in options.folders for name in FOLDERS[folder][1]})
    print(f'{len(mutants)} mutants in {sum(map(len, tree.edits.values()))} sites; building {len(targets)} test programs',
          flush=True)
    tree.make(targets, len(mutants))
    kept = alive_sites(tree)
    print(f'{tree.dropped} sites dropped, {len(tree.unmutated)} files do not parse {tree.unmutated}', flush=True)
    return tree, [m for m in mutants if m.number in kept and m.kind not in NOT_SAMPLED]


def trace(programs, options):
    """[folder] tests"""
    by_program, failing = {}, []
    names = sorted({f'test_{name}' for folder in options.folders for name in FOLDERS[folder][1]})
    for name in names:
        by_program[name], bad = programs.trace(name)
        failing += bad
        print(f'  {name}: {len(by_program[name])} tests, {sum(t.seconds for t in by_program[name]):.1f} s', flush=True)
    for name in failing:
        print(f'  fails without a mutant, omitted: {name}', flush=True)
    return {folder: [t for name in FOLDERS[folder][1] for t in by_program[f'test_{name}']] for folder in options.folders}


def shader_verdict(programs, tests, item):
    mutant, text = item
    with tempfile.TemporaryDirectory(prefix='trocar_shaders_') as folder:
        (Path(folder) / Path(mutant.file).name).write_text(text)
        return programs.verdict(tests, {'TROCAR_MUTANT_SHADERS': folder}, BUDGET)


def verdict_of(programs, tests, mutant):
    reaching = [t for t in tests if mutant.number in t.reached]
    if not reaching:
        return 'unreached', ''
    return programs.verdict(reaching, {'TROCAR_MUTANT': str(mutant.number)}, BUDGET)


def population(folder, mutants):
    if folder != 'shaders':
        return [m for m in mutants if m.folder == folder]
    found = []
    for path in sorted(p for pattern in FOLDERS['shaders'][0] for p in SOURCE.glob(pattern)):
        found += shader_sites.find(str(path.relative_to(SOURCE)), path.read_text())
    return [item for item in found if item[0].kind not in NOT_SAMPLED]


def run_folder(programs, folder, tests, everything, options):
    of = (lambda item: item[0]) if folder == 'shaders' else (lambda item: item)
    everything = [item for item in everything if options.only in f'{of(item).file}:{of(item).line}:']
    order = random.Random(f'{options.seed} {folder}').sample(everything, len(everything))
    chosen, rows = order[:options.sample], []
    spare = order[options.sample:]
    call = shader_verdict if folder == 'shaders' else verdict_of

    def one(item):
        started = time.monotonic()
        verdict, by = call(programs, tests, item)
        while verdict == 'does not compile' and spare:
            item = spare.pop(0)
            verdict, by = call(programs, tests, item)
        return of(item), verdict, by, time.monotonic() - started

    with ThreadPoolExecutor(options.jobs) as pool:
        for mutant, verdict, by, seconds in pool.map(one, chosen):
            if verdict == 'does not compile':
                continue
            rows.append({'file': mutant.file, 'line': mutant.line, 'column': mutant.column, 'kind': mutant.kind,
                         'change': mutant.change, 'verdict': verdict, 'by': by, 'seconds': round(seconds, 2)})
            if verdict in ('survived', 'unreached'):
                print(f'  {verdict}: {mutant.file}:{mutant.line}:{mutant.column} {mutant.kind}: {mutant.change} ({by})',
                      flush=True)
    return {'folder': folder, 'mutants': len(everything), 'rows': rows}


def summary(result):
    count = lambda verdict: sum(row['verdict'] == verdict for row in result['rows'])
    sampled, dead = len(result['rows']), count('killed') + count('timed out')
    share = 100.0 * dead / sampled if sampled else 0.0
    return (f'{result["folder"]:14} {result["mutants"]:7} {sampled:7} {count("killed"):7} {count("timed out"):9} '
            f'{count("survived"):8} {count("unreached"):9} {share:6.1f} %')


def main():
    options = arguments()
    work = SOURCE / 'build' / 'mutate'
    print(f'seed {options.seed}, {options.sample} mutants of each of: {", ".join(options.folders)}', flush=True)
    tree, mutants = build(options, work)
    os.environ.setdefault('TROCAR_TEST_DATA', str(SOURCE.parent / 'shared' / 'data'))   # as test_data.cpp finds it
    programs = Programs(tree.build, work)
    print('tracing which tests reach which mutants', flush=True)
    tests = trace(programs, options)
    results = []
    for folder in options.folders:
        print(f'{folder}:', flush=True)
        results.append(run_folder(programs, folder, tests[folder], population(folder, mutants), options))
    lines = [f'seed {options.seed}',
             f'{"folder":14} mutants sampled  killed timed out survived unreached  noticed']
    lines += [summary(result) for result in results]
    for result in results:
        for row in result['rows']:
            if row['verdict'] in ('survived', 'unreached'):
                lines.append(f'{row["verdict"]}: {row["file"]}:{row["line"]}:{row["column"]} {row["kind"]}: {row["change"]}')
    (work / 'report.txt').write_text('\n'.join(lines) + '\n')
    (work / 'report.json').write_text(json.dumps({'seed': options.seed, 'dropped_sites': tree.dropped,
                                                  'folders': results}, indent=1))
    print('\n'.join(lines[:2 + len(results)]))
    print(f'survivors: {work}/report.txt')


if __name__ == '__main__':
    sys.exit(main())
