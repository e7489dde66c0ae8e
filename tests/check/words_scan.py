#!/usr/bin/python3
"""Scans comments, documents, messages and test names for words that the language rules replace, and counts identifiers with them.

    tests/check/words_scan.py [--identifiers]

Prints every finding in prose as FILE:LINE: word (use this instead): text, then two counts. Findings in prose are errors: exit
status 1. Identifiers are only counted, because other programs may depend on them; --identifiers lists them.
Quotations, code in backticks and identifiers inside prose are not searched. A word that has a second, ordinary sense is searched
only where it has the replaced sense: `shadow` and `reach` in the collision rooms, `opening` beside jaws, `mark` beside grades.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COLLISION = ('geometry/', 'cpu_collision/', 'gpu_collision/', 'study/', 'tests/geometry/', 'tests/cpu_collision/', 'tests/study/',
             'tests/gpu_collision/', 'docs/collision.md', 'docs/solids.md', 'docs/broad-phase.md', 'docs/planar.md')

# Each entry is (pattern, replacement, folders in which the pattern is searched; empty: everywhere).
PROSE = [(re.compile(pattern, re.I), instead, folders) for pattern, instead, folders in [
    (r'\bjudge[sd]?\b|\bjudg(?:ing|e?ment)\b', 'the reference, the implicit reference solver, decide', ()),
    (r'\banew\b', 'rebuilt', ()),
    (r'(?<!\bin )(?<!\btake )(?<!\btakes )(?<!\bdecimal )(?<!\blast )\bplaces?\b', 'target, position, pose, parameter', ()),
    (r'\bstraight ways?\b|\b(?:on|along|of|part of) (?:its|the|their) way\b|\bway (?:out|back|from|to the)\b|\bdetours?\b',
     'path, straight-line distance, path-length ratio', ()),
    (r'\bfigures?\b(?! \d)', 'metric, value, number; plot', ()),
    (r'\b(?:good|poor|full|best|worst|mean) marks?\b|\bmarks? (?:out of|between 0 and 1)\b|\btells? skill\b',
     'grade; discriminates skill', ()),
    (r'\bcan(?:not)? be (?:told|had)\b|\bcould(?: not)? be had\b|\bto be had\b', 'undefined; not available', ()),
    (r'\benergy (?:is )?(?:on|off)\b', 'diathermy on', ()),
    (r'\bgone\b', 'removed', ()),
    (r'\bjaws?\W+(?:\w+\W+){0,3}opening\b|\bopening\W+(?:\w+\W+){0,3}jaws?\b', 'aperture', ()),
    (r'\bshadows?\b', 'projection interval', COLLISION),
    (r'\breach (?:of|along|in)\b|\bits reach\b', 'support, extent', COLLISION),
    (r'\bspokes?\b', 'incident edge', ()),
    (r'\bcrowds?\b', 'unsplit leaf', ()),
    (r'\bbulg(?:e|es|ing)\b', 'one-sided Hausdorff distance', ()),
    (r'\bclean edges?\b|\bno clean\b', 'manifold, consistently oriented edge', ()),
    (r'\b(?:some|any|no)body\b', 'candidate pair', ()),
    (r'\bstand-?ins?\b', 'proxy mesh', ()),
    (r'\bpieces? of (?:a|the|each|every|this) frame\b|\bframe\'s pieces\b', 'contact substeps', ()),
    (r'\b(?:a|the|every|this|each) hand device\b|\bhands? (?:of|for) (?:a|the) (?:session|scene)\b', 'input device', ()),
    (r'\bthe rest(?! (?:shape|position|pose|state|length|overlap|surface|volume|mesh|lattice|space|overlaps|vertex|vertices)\b)\b|'
     r'\bwhat is left\b', 'remaining faces, time, ...', ()),
    (r'\broom to work\b', 'scratch buffers', ()),
    (r'\bhostile\b|\bwhoever\b|\bwherever\b|\bmend(?:s|ed|ing)?\b', 'degenerate, damaged, untrusted; repaired', ()),
    (r'(?<!\bthere )\b(?:is|are) no (?!longer\b)(?:\w+ )?(?:number|file|box|keyword|recording|mesh|name|edge|solid|polygon)\b',
     'is not a ..., NaN', ()),
]]
IDENTIFIER = re.compile(r'^(?:judge|place|places|detour|figure|figures|gone|spoke|spokes|crowd|crowds|bulge|anybody|somebody|nobody)$')
TEST = re.compile(r'\bTEST(?:_[FP])?\((\w+), (\w+)\)')
PARTS = re.compile(r'[A-Z]?[a-z]+|[A-Z]+(?![a-z])')


def tracked():
    names = subprocess.run(['git', 'ls-files'], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split('\n')
    return [n for n in names if n and 'corpus/' not in n and n != 'tests/check/words_scan.py']


def plain(text):
    """Prose without quotations, code in backticks, paths and identifiers."""
    text = re.sub(r'`[^`]*`|\$\([^)"]*|"[^"]*"|“[^”]*”|\]\([^)]*\)', ' ', text)
    return re.sub(r'[\w-]*(?:[/.]\w[\w./-]*|_\w+)|\b\w+\(|\b[a-z]+[A-Z]\w*|\b\w+::\w+', ' ', text)


def document_lines(text):
    text = re.sub(r'```.*?```', lambda m: '\n' * m[0].count('\n'), text, flags=re.S)
    for number, line in enumerate(text.split('\n'), 1):
        yield number, plain(line)


def source_lines(name, text):
    """(line, prose): comments, string literals that are sentences, and test names as words."""
    sign = '#' if name.endswith(('.py', '.sh', '.txt', '.cmake', '.toml')) else '//'
    for number, line in enumerate(text.split('\n'), 1):
        code, found, comment = line.partition(sign) if '"' not in line else split_comment(line, sign)
        if found:
            yield number, plain(comment)
        for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', code):
            if re.search(r'[a-z] [a-z]', literal) and not code.lstrip().startswith('#include'):
                yield number, plain(re.sub(r'\\.', ' ', literal).replace('"', ' '))
        for match in TEST.finditer(code):
            yield number, ' '.join(PARTS.findall(match[2])).lower()


def split_comment(line, sign):
    """A comment starts at the first `sign` that is not inside a string."""
    match = re.match(r'((?:[^"]|"(?:[^"\\]|\\.)*")*?)(%s)(.*)' % re.escape(sign), line)
    return (match[1], match[2], match[3]) if match else (line, '', '')


def findings(name, text):
    lines = document_lines(text) if name.endswith('.md') else source_lines(name, text)
    for number, prose in lines:
        for pattern, instead, folders in PROSE:
            if folders and not name.startswith(folders):
                continue
            for match in pattern.finditer(prose):
                yield number, match[0], instead, ' '.join(prose.split())


def identifiers(text):
    code = re.sub(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"', ' ', text)
    for word in set(re.findall(r'\b[A-Za-z_]\w*', code)):
        if any(IDENTIFIER.match(part.lower()) for part in PARTS.findall(word)):
            yield word


def main():
    prose, named = 0, {}
    for name in tracked():
        if not name.endswith(('.md', '.cpp', '.hpp', '.py', '.sh', '.js', '.comp', '.vert', '.frag', '.geom', '.txt', '.cmake', '.toml')):
            continue
        text = (ROOT / name).read_text(errors='replace')
        for number, word, instead, line in findings(name, text):
            print(f'{name}:{number}: {word} ({instead}): {line[:100]}')
            prose += 1
        if name.endswith(('.cpp', '.hpp')):
            for word in identifiers(text):
                named.setdefault(word, set()).add(name)
    if '--identifiers' in sys.argv[1:]:
        for word in sorted(named):
            print(f'{word}: {len(named[word])} files')
    print(f'{prose} replaced words in prose, {len(named)} identifiers with such a word')
    return 1 if prose else 0


if __name__ == '__main__':
    sys.exit(main())
