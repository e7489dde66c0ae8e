#!/usr/bin/python3
"""Tests elf_scan.py on small programs with one fault each:  elf_scan_test.py C_COMPILER"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SCAN = Path(__file__).parent / 'elf_scan.py'
SOURCE = 'int main(void) { return 0; }\n'
HARDENED = ['-fPIE', '-pie', '-Wl,-z,relro,-z,now,-z,noexecstack']
CASES = {
    'empty element at the end': (['-Wl,-rpath,/usr/lib:'], 'has an empty element'),
    'empty element at the start': (['-Wl,-rpath,:/usr/lib'], 'has an empty element'),
    'empty element within': (['-Wl,-rpath,/usr/lib::/lib'], 'has an empty element'),
    'old kind of path': (['-Wl,--disable-new-dtags,-rpath,/usr/lib:'], 'RPATH [/usr/lib:] has an empty element'),
    'relative': (['-Wl,-rpath,lib'], 'the relative element lib'),
    'the current folder': (['-Wl,-rpath,.'], 'the relative element .'),
    'another variable': (['-Wl,-rpath,$PLATFORM/lib'], 'the relative element'),
    'a name before the origin': (['-Wl,-rpath,x$ORIGIN'], 'the relative element'),
    'the folder of everybody': (['-Wl,-rpath,/tmp/of-somebody/lib'], 'which other users may write'),
    'the way to the folder of everybody': (['-Wl,-rpath,/usr/lib/../../tmp'], 'which other users may write'),
    'not position-independent': (['-fno-pie', '-no-pie'], 'is not position-independent'),
    'lazy': (['-Wl,-z,lazy'], 'binds lazily'),
    'without RELRO': (['-Wl,-z,norelro'], 'no segment GNU_RELRO'),
    'executable stack': (['-Wl,-z,execstack'], 'GNU_STACK is writable and executable'),
    'an auditor': (['-Wl,--audit=a.so'], 'AUDIT'),
}


def scan(folder, *options):
    return subprocess.run([str(SCAN), *options, str(folder)], capture_output=True, text=True, check=False)


def build(compiler, folder, options):
    source = folder / 'm.c'
    source.write_text(SOURCE)
    subprocess.run([compiler, *HARDENED, *options, str(source), '-o', str(folder / 'm')], check=True)
    source.unlink()


def main():
    compiler, wrong = sys.argv[1], []

    def expect(name, run, status, part):
        if run.returncode != status or part not in run.stdout:
            wrong.append(f'{name}: status {run.returncode}\n{run.stdout}{run.stderr}')

    with tempfile.TemporaryDirectory() as made:
        for number, (name, (options, part)) in enumerate(CASES.items()):
            folder = Path(made, str(number))
            folder.mkdir()
            build(compiler, folder, options)
            expect(name, scan(folder, '--hardened'), 1, part)
        good = Path(made, 'good')
        good.mkdir()
        expect('no file', scan(good), 1, '0 ELF files')
        build(compiler, good, ['-Wl,-rpath,$ORIGIN/../lib:/usr/lib'])
        expect('a good file', scan(good, '--hardened'), 0, '1 ELF files, 0 faults')
        expect('without protection', scan(good, '--hardened', '--expect', 'm'), 1, 'has no stack protector')
        expect('a missing file', scan(good, '--expect', 'other'), 1, 'other is missing')
        os.chmod(good, 0o777)
        build(compiler, good, ['-Wl,-rpath,$ORIGIN'])
        expect('a folder of everybody as the origin', scan(good), 1, 'which other users may write')
        library = good / 'without_name.so'
        (good / 'l.c').write_text('int f(void) { return 0; }\n')
        (good / 'p.c').write_text('int f(void); int main(void) { return f(); }\n')
        subprocess.run([compiler, '-shared', '-fPIC', str(good / 'l.c'), '-o', str(library)], check=True)
        subprocess.run([compiler, str(good / 'p.c'), str(library), '-o', str(good / 'p')], check=True)
        expect('a library by its path', scan(good), 1, 'is a path')
    print('\n'.join(wrong) or f'{len(CASES) + 6} cases')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
