#!/usr/bin/python3
"""Scans the documents and the comments: checks that every relative link has a target, and that every named file and test exists.
Also checks that no file or folder has a name that starts with a dash, and that the version stands once: CITATION.cff and
CHANGELOG.md repeat that of CMakeLists.txt.

    tests/check/docs_scan.py

A name in backticks counts as one of our files when it starts with a top-level folder and contains no placeholder, and as one of
our tests when it is `Suite.Test` or `Suite.*`, each with a capital first letter. In sources, names of test files are checked.
Exit status 1 when something is missing; each finding is one line.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r'\]\(([^)\s]+)\)|src="([^"]+)"')
CODE = re.compile(r'`([^`\n]+)`')
PLAIN = re.compile(r'(?<![\w/.-])((?:%s)/[\w./-]+\.(?:cpp|hpp|comp|vert|geom|frag|glsl|py|sh|js|toml|md|txt|csv|obj))\b')


TEST = re.compile(r'\bTEST(?:_[FP])?\((\w+), (\w+)\)')
TEST_NAME = re.compile(r'(?:\w+/)?([A-Z]\w+)\.([A-Z*][\w*]*)')          # with the prefix of a parametrised suite
TEST_FILE = re.compile(r'\b[a-z][\w-]*(?:_test\.(?:cpp|py|sh)|_fuzz\.cpp|\.test\.js)\b')
SOURCES = ('.cpp', '.hpp', '.py', '.sh', '.js', '.comp', '.vert', '.frag', '.glsl', '.geom', '.txt')


def tracked():
    return subprocess.run(['git', 'ls-files'], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split('\n')


def anchors(text):
    """The anchors of a document's headings, as the usual Markdown readers make them."""
    heads = re.findall(r'^#+ +(.*)$', re.sub(r'```.*?```', '', text, flags=re.S), flags=re.M)
    return {re.sub(r'[^\w\- ]', '', head.lower()).strip().replace(' ', '-') for head in heads}


def link_fault(document, link):
    if re.match(r'[a-z]+:', link):
        return None
    path, _, anchor = link.partition('#')
    target = (document.parent / path).resolve() if path else document
    if not target.exists():
        return f'link to {link}: target does not exist'
    if anchor and target.suffix == '.md' and anchor not in anchors(target.read_text()):
        return f'link to {link}: no such heading'
    return None


def file_names(text, folders):
    plain = re.compile(PLAIN.pattern % '|'.join(map(re.escape, folders)))
    for match in CODE.finditer(text):
        name = match[1].strip()
        if re.fullmatch(r'[\w./-]+', name) and name.split('/')[0] in folders and '/' in name:
            yield name
    for match in plain.finditer(text):
        yield match[1]


def exists(name):
    """A file or folder; `deform/name` stands for name.hpp and name.cpp; a word in capitals stands for any name."""
    path = ROOT / name
    return path.exists() or any(path.parent.glob(path.name + '.*')) or re.search(r'\b[A-Z]{2,}\b', name)


def tests_of(names):
    """[suite] the names of its tests"""
    suites = {}
    for name in names:
        if name.startswith('tests/') and name.endswith('.cpp'):
            for suite, test in TEST.findall((ROOT / name).read_text()):
                suites.setdefault(suite, set()).add(test)
    return suites


def missing_tests(text, suites):
    """The tests that a document names in backticks and that do not exist."""
    for name in sorted({match[1] for match in CODE.finditer(text)}):
        match = TEST_NAME.fullmatch(name)
        if not match:
            continue
        wanted = re.compile(match[2].replace('*', r'\w*'))
        if not any(wanted.fullmatch(test) for test in suites.get(match[1], ())):
            yield f'{name}: no such test'


def missing_test_files(text, base_names):
    """The files of tests that a source names and that do not exist."""
    for name in sorted(set(TEST_FILE.findall(text)) - base_names):
        yield f'{name}: no such file'


def faults(document, folders, suites):
    text = document.read_text()
    yield from missing_tests(text, suites)
    for match in LINK.finditer(re.sub(r'```.*?```', '', text, flags=re.S)):
        fault = link_fault(document, match[1] or match[2])
        if fault:
            yield fault
    for name in sorted(set(file_names(text, folders))):
        if not exists(name):
            yield f'{name}: no such file'


def version_faults():
    """The files that repeat the version of project() in CMakeLists.txt, and differ from it."""
    version = re.search(r'^project\(trocar VERSION ([\d.]+)', (ROOT / 'CMakeLists.txt').read_text(), re.M)[1]
    for name, pattern in (('CITATION.cff', r'^version: (\S+)'), ('CHANGELOG.md', r'^## (\S+)')):
        found = re.search(pattern, (ROOT / name).read_text(), re.M)
        if not found or found[1] != version:
            yield ROOT / name, f'version {found and found[1]}, CMakeLists.txt has {version}'


def main():
    names = [name for name in tracked() if name]
    folders = sorted({name.split('/')[0] for name in names if '/' in name} - {'.ci'})
    documents = [ROOT / name for name in names if name.endswith('.md')]
    suites, base_names = tests_of(names), {Path(name).name for name in names}
    findings = [(document, fault) for document in documents for fault in faults(document, folders, suites)]
    findings += version_faults()
    findings += [(ROOT / name, 'commands read this name as an option') for name in names if re.search(r'(^|/)-', name)]
    for name in names:
        if name.endswith(SOURCES) and Path(name) != Path(__file__).relative_to(ROOT):
            findings += [(ROOT / name, fault) for fault in missing_test_files((ROOT / name).read_text(), base_names)]
    for document, fault in findings:
        print(f'{document.relative_to(ROOT)}: {fault}')
    found = len(findings)
    print(f'{len(documents)} documents, {found} findings')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
