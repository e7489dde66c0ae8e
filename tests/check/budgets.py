#!/usr/bin/python3
"""Compares the minutes of every suite with its budget in tests/README.md.

    tests/check/budgets.py JUNIT_FILE

A suite is a folder under tests/; a test belongs to the folder whose source defines its GoogleTest suite, other tests to
the folder before the dot in their name. Prints every suite, and which ones exceed their budget. The exit status is
always 0, because the times depend on the machine.
"""
import re
import sys
import xml.etree.ElementTree as Xml
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROW = re.compile(r'^\| `(\w+)` \| ([\d.]+) \|', re.M)
SUITE = re.compile(r'^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,', re.M)


def budgets():
    return {name: float(minutes) for name, minutes in ROW.findall((TESTS / 'README.md').read_text())}


def folders_of_suites():
    return {suite: path.relative_to(TESTS).parts[0] for path in TESTS.rglob('*.cpp') if 'node_modules' not in path.parts
            for suite in SUITE.findall(path.read_text())}


def folder_of(test, suites):
    head = test.split('.')[0]
    return next((suites[part] for part in head.split('/') if part in suites), head)


def main():
    suites, spent = folders_of_suites(), {}
    for case in Xml.parse(sys.argv[1]).getroot().iter('testcase'):
        folder = folder_of(case.get('name'), suites)
        spent[folder] = spent.get(folder, 0.0) + float(case.get('time', 0.0)) / 60.0
    allowed = budgets()
    print('minutes of tests (budget in tests/README.md):')
    for folder in sorted(spent):
        budget = allowed.get(folder)
        note = 'has no budget' if budget is None else 'EXCEEDS ITS BUDGET' if spent[folder] > budget else ''
        print(f'  {folder:14} {spent[folder]:6.1f} of {budget if budget is not None else "-":>5} {note}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
