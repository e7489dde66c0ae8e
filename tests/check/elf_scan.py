#!/usr/bin/python3
"""Checks the ELF files (programs, modules, libraries) below folders:  elf_scan.py [--hardened] [--expect NAME]... FOLDER...

Every file: its search path for libraries (RPATH, RUNPATH) has no element that is empty (the loader reads it as the
current folder), relative, or writable by other users, also below $ORIGIN; it names the libraries that it needs, and
auditors and filters, without a path; its interpreter is absolute.
--hardened, for files of our own build: position-independent, relocations read-only after the start (GNU_RELRO and
BIND_NOW), no segment and no stack that is both writable and executable, no relocations in the text.
--expect NAME: a file of this name is there, and with --hardened has a stack protector and checked copies (FORTIFY).

Object files and CMake's own trials are left out. Prints each fault; the exit status is 1 when there is one, or when no
ELF file was found.   Tested by tests/check/elf_scan_test.py
"""
import argparse
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

PATH_TAGS = ('RPATH', 'RUNPATH')
NAME_TAGS = ('NEEDED', 'AUDIT', 'DEPAUDIT', 'FILTER', 'AUXILIARY')


def elf_files(folders):
    for folder in folders:
        for root, folders_below, files in os.walk(folder):
            folders_below[:] = [name for name in folders_below if name != 'CMakeFiles']
            for name in sorted(files):
                path = Path(root, name)
                if path.suffix in ('.o', '.a', '.gch') or path.is_symlink() or not path.is_file():
                    continue
                with open(path, 'rb') as file:
                    if file.read(4) == b'\x7fELF':
                        yield path


def readelf(path):
    return subprocess.run(['readelf', '-W', '-h', '-l', '-d', '--dyn-syms', str(path)], capture_output=True, text=True,
                          check=True, env={**os.environ, 'LC_ALL': 'C'}).stdout


def dynamic(text, tags):
    """The values of these tags of the dynamic section."""
    for tag, value in re.findall(r'^ 0x[0-9a-f]+ \((\w+)\) +(.*)$', text, re.M):
        if tag in tags:
            yield tag, re.sub(r'^.*?\[(.*)\]$', r'\1', value)


def others_may_write(folder):
    """Whether another user than root and the owner may create a file in it, or the folder itself."""
    folder = Path(os.path.normpath(folder))
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return bool(folder.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def path_faults(path, tag, value):
    for element in value.split(':'):
        if not element:
            yield f'{tag} [{value}] has an empty element, which is the current folder'
            continue
        own = re.match(r'^\$(ORIGIN|\{ORIGIN\})(?=/|$)', element)
        resolved = str(path.resolve().parent) + element[own.end():] if own else element
        if not resolved.startswith('/') or '$' in resolved:
            yield f'{tag} [{value}] has the relative element {element}'
        elif others_may_write(resolved):
            yield f'{tag} [{value}] has the element {element}, which other users may write'


def library_faults(path, text):
    for tag, value in dynamic(text, PATH_TAGS):
        yield from path_faults(path, tag, value)
    for tag, value in dynamic(text, NAME_TAGS):
        if tag != 'NEEDED':
            yield f'{tag} {value}: the loader loads it before the program'
        elif '/' in value or not value:
            yield f'{tag} {value} is a path; only a name is looked for in the folders of the system'
    for interpreter in re.findall(r'program interpreter: (.*)\]', text):
        if not interpreter.startswith('/'):
            yield f'its interpreter {interpreter} is relative'


def hardening_faults(text):
    if not re.search(r'^ +Type: +DYN ', text, re.M):
        yield 'is not position-independent'
    if 'GNU_RELRO' not in text:
        yield 'has no segment GNU_RELRO'
    if not re.search(r'\((BIND_NOW)\)|\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*\bNOW\b', text):
        yield 'binds lazily: BIND_NOW is missing'
    if re.search(r'\(TEXTREL\)|\(FLAGS\).*TEXTREL', text):
        yield 'has relocations in its text'
    if 'GNU_STACK' not in text:
        yield 'does not say that its stack is not executable'
    for kind, flags in re.findall(r'^  (\w+) +(?:0x[0-9a-f]+ +){5}([RWE ]{3}) ', text, re.M):
        if 'W' in flags and 'E' in flags:
            yield f'its segment {kind} is writable and executable'


def protection_faults(text):
    if '__stack_chk_fail' not in text:
        yield 'has no stack protector'
    if not re.search(r' __\w+_chk\b', text):
        yield 'has no checked copies (_FORTIFY_SOURCE)'


def faults_of(path, hardened, expected):
    text = readelf(path)
    yield from library_faults(path, text)
    if hardened:
        yield from hardening_faults(text)
        if expected:
            yield from protection_faults(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--hardened', action='store_true')
    parser.add_argument('--expect', action='append', default=[])
    parser.add_argument('folders', nargs='+')
    given = parser.parse_args()
    missing, count, faults = set(given.expect), 0, []
    for path in elf_files(given.folders):
        count += 1
        missing.discard(path.name)
        faults += [f'{path}: {fault}' for fault in faults_of(path, given.hardened, path.name in given.expect)]
    faults += [f'{name} is missing: it was not looked at' for name in sorted(missing)]
    for fault in faults:
        print(fault)
    print(f'{count} ELF files, {len(faults)} faults')
    return 1 if faults or count == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
