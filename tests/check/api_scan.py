#!/usr/bin/python3
"""Counts the public functions of the library's rooms whose comments lack shapes, units, errors or a source.

    tests/check/api_scan.py [--list]

Looks at every function that a header declares at the level of a namespace with a name that does not end in _detail, or in the public
part of a class. Its comment stands before or behind it; the opening comment of the header counts for units and source. Wanted are
- `about`: a comment of its own, of the function just before it with the same name, or one that says that it serves several functions
  (Both, Each, All, These, They, Return), to the next blank line or comment
- `shapes`: a bracket such as [node] or [frame][tool], where it takes or returns an array; bytes need none
- `units`: a unit, where it takes or returns real numbers or vectors of them
- `errors`: what it throws, where its definition throws
- `source`: the opening comment names a document, a paper, a page of docs/ or a test
Nothing here is an error: the exit status is 0. --list prints each function with what it lacks.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ('geometry', 'mesh', 'deform', 'cpu_collision', 'gpu_collision', 'study', 'sim')
KINDS = ('about', 'shapes', 'units', 'errors', 'source')
ARRAY = re.compile(r'\b(?:span|vector|array)<(?!(?:const )?std::byte\b)')
REAL = re.compile(r'\b(?:double|float|d?vec[234])\b')
UNIT = re.compile(r'(?<![\w])(?:m|mm|um|s|ms|us|N|Pa|kPa|kg|rad|deg|degrees?|Hz|px|pixels?|metres?|millimetres?|seconds?|newtons?|radians?|pascals?|'
                  r'm/s|N/m|N s|m\^[23]|ml|unit|1|0 ?\.\. ?1|share|ratio|half heights?|any unit|units: none|units: of the file)(?![\w])', re.I)
SEVERAL = re.compile(r'(?:^|[.:;] +)(?:Both|Each|All|These|They|Return)\b')
SOURCE = re.compile(r'docs/|\b(?:19|20)\d\d\b|[Tt]hesis|[Dd]ocument \d|Based on|Source|Tested|Checked|tests/')
FUNCTION = re.compile(r'^\s*(?:template <[^;{]*> ?)?(?:\[\[\w+\]\] )?(?:(?:static|inline|constexpr|virtual|explicit|friend) )*'
                      r'(?:[\w:<>,&*\[\] ]+[ &*])?(~?\w+)\(')
NOT_FUNCTIONS = {'if', 'for', 'while', 'switch', 'return', 'static_assert', 'sizeof', 'decltype', 'defined', 'assert', 'else'}


def opening(lines):
    end = next((k for k, line in enumerate(lines) if not line.startswith('//')), len(lines))
    return ' '.join(line[2:] for line in lines[:end])


def bodies(header):
    """[function] the text of its definition, from the source beside the header and the header itself."""
    found = {}
    for path in (header.with_suffix('.cpp'), header):
        if path.exists():
            for match in re.finditer(r'^\s*[\w:<>,&* ]*?(\w+)\([^;{]*\)[^;{]*\{', path.read_text(), re.M):
                text = path.read_text()[match.end():]
                found.setdefault(match[1], text[:text.find('\n}')])
    return found


def declarations(lines):
    """(number of its line, name, text, comment) of each public function; the text of a declaration may take several lines."""
    depth, stack, public, comment, group = 0, [], True, [], ''
    k = 0
    while k < len(lines):
        line = lines[k]
        code = re.sub(r'"[^"]*"', '""', line.split('//')[0])
        if line.strip().startswith('//'):
            comment.append(line.strip()[2:])
            group = ''
            k += 1
            continue
        if re.fullmatch(r'\s*template <[^;{]*>\s*', code):
            k += 1
            continue
        if re.match(r'^\s*(?:public|private|protected):', code):
            public = 'public' in code
        start = k
        at_level = public and all(kind != 'code' for kind, _ in stack)
        if not code.strip() or re.match(r'^\s*(?:class|struct|enum|namespace|\};)', code):
            group = ''
        match = FUNCTION.match(code) if at_level and not code.lstrip().startswith('#') else None
        if match and match[1] not in NOT_FUNCTIONS and not match[1].isupper():
            text = line
            while text.count('(') > text.count(')') and k + 1 < len(lines):
                k += 1
                text += ' ' + lines[k].strip()
            behind = ' '.join(re.findall(r'//(.*)', text))
            if not re.search(r'=\s*delete|~|operator', text) and ';' in text or '{' in text:
                own = ' '.join(row.strip() for row in comment)
                group = own if SEVERAL.search(own) else group
                yield start + 1, match[1], text, (own or group) + ' ' + behind
        for sign in re.findall(r'[{}]', ''.join(re.sub(r'"[^"]*"', '', row.split('//')[0]) for row in lines[start:k + 1])):
            if sign == '{':
                head = re.sub(r'\s+', ' ', ' '.join(lines[max(0, start - 1):k + 1]))
                in_class = re.search(r'\b(?:class|struct|union)\b', code) and '(' not in code
                kind = 'namespace' if re.search(r'\bnamespace (?!\w+_detail\b)\w', line) else 'class' if in_class else 'code'
                stack.append((kind, public))
                if kind == 'class':
                    public = not re.search(r'\bclass\b', code) or 'enum' in code
                    if 'enum' in head:
                        stack[-1] = ('code', stack[-1][1])
            elif stack:
                public = stack.pop()[1]
            depth += 1 if sign == '{' else -1
        if line.strip():
            comment = []
        k += 1


def lacks(name, text, comment, head, definitions):
    words, missing = text.split('//')[0], set()
    if not comment.strip():
        missing.add('about')
    if ARRAY.search(words) and '[' not in comment + head:
        missing.add('shapes')
    if REAL.search(words) and not UNIT.search(comment + head):
        missing.add('units')
    if re.search(r'\bthrow\b|\.fail\(', definitions.get(name, '')) and not re.search(r'[Tt]hrows?|Error|[Rr]efuse', comment):
        missing.add('errors')
    if not SOURCE.search(head + comment):
        missing.add('source')
    return missing


def main():
    total, complete, counts, findings = {}, {}, dict.fromkeys(KINDS, 0), []
    for room in ROOMS:
        for header in sorted((ROOT / room).rglob('*.hpp')):
            lines = header.read_text().split('\n')
            head, definitions, last = opening(lines), bodies(header), (None, '')
            for number, name, text, comment in declarations(lines):
                if name == last[0] and not comment.strip():
                    comment = last[1]
                last = (name, comment)
                missing = lacks(name, text, comment, head, definitions)
                total[room] = total.get(room, 0) + 1
                complete[room] = complete.get(room, 0) + (not missing)
                for kind in missing:
                    counts[kind] += 1
                if missing:
                    findings.append(f'{header.relative_to(ROOT)}:{number}: {name}: {", ".join(k for k in KINDS if k in missing)}')
    if '--list' in sys.argv[1:]:
        print('\n'.join(findings))
    for room in ROOMS:
        print(f'{room:14} {complete.get(room, 0):5} of {total.get(room, 0):5} complete')
    everything = sum(total.values())
    print(f'{everything} public functions, {sum(complete.values())} complete ({100 * sum(complete.values()) / everything:.0f} %); without '
          + ', '.join(f'{kind} {counts[kind]}' for kind in KINDS))
    return 0


if __name__ == '__main__':
    sys.exit(main())
