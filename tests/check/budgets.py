#!/usr/bin/python3
"""Prints what the tests of a run took and left out: the time of each suite beside its budget in tests/README.md, the slowest
cases, and every case that was skipped, with its reason.

    tests/check/budgets.py RESULTS JUNIT

RESULTS: folder of GoogleTest's XML files; JUNIT: CTest's file, for the tests that are no GoogleTest programs. A case belongs to the
folder under tests/ whose source defines its suite, another test to the folder before the dot in its name. Times depend on the
machine: the exit status is 1 only when a suite takes more than 2.5 times its budget on a machine that is not slower than the
budget's, which is judged by all suites together: a machine with other work measures 1.6 times now and then.
"""
import re
import sys
import xml.etree.ElementTree as Xml
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROW = re.compile(r'^\| `(\w+)` \| ([\d.]+) \|', re.M)
SUITE = re.compile(r'^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,', re.M)
MOST = 2.5


def budgets():
    return {name: float(seconds) for name, seconds in ROW.findall((TESTS / 'README.md').read_text())}


def folders_of_suites():
    return {suite: path.relative_to(TESTS).parts[0] for path in TESTS.rglob('*.cpp') if 'node_modules' not in path.parts
            for suite in SUITE.findall(path.read_text())}


def cases(results, junit):
    """Yields (folder, name, seconds, reason of skipping or None)."""
    suites = folders_of_suites()
    for file in sorted(Path(results).glob('*.xml')):
        for case in Xml.parse(file).getroot().iter('testcase'):
            name = case.get('classname') + '.' + case.get('name')
            folder = next((suites[part] for part in case.get('classname').split('/') if part in suites), 'other')
            skipped = case.find('skipped')
            # Place, reason, traces.
            lines = [] if skipped is None else (skipped.get('message') or '').splitlines() + ['', 'no reason given']
            reason = None if skipped is None else lines[1] or 'no reason given'
            if case.get('status') == 'run':
                yield folder, name, float(case.get('time', 0.0)), reason
    programs = {file.stem for file in Path(results).glob('*.xml')}
    for case in Xml.parse(junit).getroot().iter('testcase'):
        name = case.get('name')
        if name in programs:
            continue
        skipped = case.get('status') == 'notrun' or case.find('skipped') is not None
        output = (case.findtext('system-out') or '').strip().splitlines()
        yield name.split('.')[0], name, float(case.get('time', 0.0)), (output or ['no reason given'])[-1] if skipped else None


def main():
    spent, slowest, skipped = {}, [], []
    for folder, name, seconds, reason in cases(*sys.argv[1:]):
        spent[folder] = spent.get(folder, 0.0) + seconds
        slowest.append((seconds, name))
        if reason is not None:
            skipped.append((name, reason))
    allowed = budgets()
    known = [folder for folder in spent if folder in allowed]
    slower = max(1.0, sum(spent[folder] for folder in known) / max(1.0, sum(allowed[folder] for folder in known)))
    print('seconds of tests (budget in tests/README.md):')
    beyond = 0
    for folder in sorted(spent):
        budget = allowed.get(folder)
        note = ''
        if budget is None:
            note = 'has no budget'
        elif spent[folder] > MOST * slower * budget and spent[folder] > 10.0:
            note, beyond = 'EXCEEDS ITS BUDGET', beyond + 1
        print(f'  {folder:14} {spent[folder]:7.1f} of {budget if budget is not None else "-":>5} {note}')
    print('slowest:')
    for seconds, name in sorted(slowest, reverse=True)[:8]:
        print(f'  {seconds:7.1f} {name}')
    for name, reason in skipped:
        print(f'skipped: {name}: {reason}')
    return 1 if beyond else 0


if __name__ == '__main__':
    sys.exit(main())
