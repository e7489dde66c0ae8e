#!/usr/bin/python3
"""Checks tests/long.txt: every case in it exists, and so does the short test that sees the same kind of fault, which is not in it.

    tests/check/long_scan.py       Prints every fault as FILE:LINE: sentence; exit status 1 when there is one.
"""
import re
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
CASE = re.compile(r'^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)', re.M)
# Instance/Suite.Case/parameter: the instance and the parameter are not looked up.
NAME = re.compile(r'^(?:[A-Za-z]\w*/)?([A-Z]\w*)\.(\w+|\*)(?:/\w+)?$')


def main():
    sources = [path.read_text() for path in TESTS.rglob('*.cpp') if 'node_modules' not in path.parts]
    cases = {match for text in sources for match in CASE.findall(text)}
    suites = {suite for suite, _ in cases}
    long_names, faults = set(), 0
    lines = (TESTS / 'long.txt').read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if line and not line.startswith('#'):
            long_names.add(line.split('#')[0].strip())

    def exists(name):
        match = NAME.match(name)
        if match:
            return match[1] in suites if match[2] == '*' else (match[1], match[2]) in cases
        folder, _, word = name.partition('.')  # a name may be put together in a loop
        listed = TESTS / folder / 'CMakeLists.txt'
        return listed.exists() and re.search(rf'\b{word}\b', listed.read_text()) is not None

    for number, line in enumerate(lines, 1):
        if not line or line.startswith('#'):
            continue
        name, _, sibling = (part.strip() for part in line.partition('#'))
        wrong = []
        if not exists(name):
            wrong.append(f'there is no test {name}; remove the line')
        named = sibling.split()[0].rstrip(',') if sibling else ''
        if not sibling:
            wrong.append('names no short test of its kind; write one behind #')
        elif (NAME.match(named) or '.' in named) and not exists(named):
            wrong.append(f'there is no short test {named}')
        elif named in long_names:
            wrong.append(f'{named} is itself a long test')
        for sentence in wrong:
            print(f'tests/long.txt:{number}: {sentence}')
            faults += 1
    sys.exit(1 if faults else 0)


main()
