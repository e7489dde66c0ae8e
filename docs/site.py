#!/usr/bin/python3
"""Builds the site of `./run docs` in out/docs: the pages of docs/, reference pages made from the program and the code, API pages.

    docs/site.py [--pages] TROCAR TROCAR_REFERENCE

--pages stops before the site and the API pages are made: it needs no packages beyond those of the build. TROCAR is the program, whose
manual page gives the page of commands; TROCAR_REFERENCE prints the keys of a scene. Every link is checked in the pages that were
built. Exit status 1 when mkdocs warns, a link is broken or a page would load something from elsewhere.
"""
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[1]
WORK, OUT = ROOT / 'build/docs', ROOT / 'out/docs'
PAGES = WORK / 'pages'
API_ROOMS = ('geometry', 'mesh', 'deform', 'cpu_collision', 'gpu_collision', 'study', 'sim', 'packaging/include')
# [page of the site] file of the repository, beside those of docs/
OTHER_PAGES = {'index.md': 'README.md', 'CHANGELOG.md': 'CHANGELOG.md', 'CONTRIBUTING.md': 'CONTRIBUTING.md',
               'SECURITY.md': 'SECURITY.md', 'CODE_OF_CONDUCT.md': 'CODE_OF_CONDUCT.md', 'tests-README.md': 'tests/README.md'}


# ---- Markdown as GitHub reads it, for mkdocs

def split_fences(text):
    """(is code, part): fenced blocks and what stands between them."""
    for part in re.split(r'(^```.*?^```$)', text, flags=re.S | re.M):
        yield part.startswith('```'), part


def with_empty_lines(text):
    """mkdocs needs an empty line before a list or a table, and pipes in code without a backslash."""
    lines = []
    for line in text.split('\n'):
        before = lines[-1] if lines else ''
        item, table = re.match(r'(?:[-*]|\d+\.) ', line), line.startswith('|')
        in_list = re.match(r'(?:[-*]|\d+\.) |  ', before)
        if before.strip() and ((item and not in_list) or (table and not before.startswith('|'))):
            lines.append('')
        lines.append(re.sub(r'`[^`]*`', lambda code: code[0].replace('\\|', '|'), line) if table else line)
    return '\n'.join(lines)


def link_target(source, path):
    """The path of a link in the site, from the top; None: a folder, which the site does not have."""
    target = (source.parent / path).resolve()
    name = str(target.relative_to(ROOT))
    if target.is_dir():
        return None
    for page, file in OTHER_PAGES.items():
        if file == name:
            return page
    if name.startswith('docs/'):
        return name[len('docs/'):]
    copy = PAGES / 'files' / (name + ('.txt' if target.suffix not in ('.png', '.webp', '.svg') else ''))
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(target, copy)
    return str(copy.relative_to(PAGES))


def with_links(text, source):
    def link(found):
        label, path, anchor = found[1], found[2], found[3] or ''
        if re.match(r'[a-z]+:', path) or not path:
            return found[0]
        target = link_target(source, path)
        return f'[{label}]({target}{anchor})' if target else label
    text = re.sub(r'\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)', link, text)
    return re.sub(r'`(commands|scene-keys|columns|metric-list)\.md`', r'[`\1.md`](\1.md)', text)  # pages that are made here


def page_of(source):
    parts = [part if code else with_links(with_empty_lines(part), source) for code, part in split_fences(source.read_text())]
    return ''.join(parts)


# ---- pages made from the program and the code

def scene_key_page(program):
    table = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return ('# Keys of a scene\n\nMade from the declarations that the reader of scenes uses (`sim/scene/scene_keys.hpp`). Rules for names, files '
            'and positions: [file formats](file-formats.md#scene-toml).\n\n') + with_links(table, ROOT / 'docs/file-formats.md')


def plain(roff):
    return re.sub(r'\\f[BIR]', '', roff).replace('\\-', '-').replace('\\(aq', "'").replace('\\&', '').replace('\\\\', '\\')


def command_page(program):
    """The manual page, as tables of options under one heading for each command."""
    manual = subprocess.run([program, '--manual'], check=True, capture_output=True, text=True).stdout
    text = '# Commands\n\nMade from the program: `trocar help COMMAND` prints the same. Examples: [user guide](user-guide.md).\n'
    text += 'A command writes over no file that you name, unless you add `--force`.\n'
    for block in re.split(r'^\.S[SH] ', manual, flags=re.M)[1:]:
        head, *lines = block.split('\n')
        name = plain(head).strip('"')
        if not head.startswith('"') and name != 'EXIT STATUS':
            continue
        options = re.findall(r'^\.TP\n(.*)\n(.*)$', '\n'.join(lines), flags=re.M)
        about = ' '.join(plain(line) for line in '\n'.join(lines).split('\n.TP')[0].split('\n') if not line.startswith('.'))
        level = '###' if ' ' in name and name != 'EXIT STATUS' else '##'
        title = f'trocar {name}' if name != 'EXIT STATUS' else 'Exit status'
        text += f'\n{level} {title}\n\n{about}\n'
        rows = [(plain(option).strip(), plain(meaning)) for option, meaning in options if '--help' not in plain(option)]
        if rows:
            text += '\n| option | meaning |\n|---|---|\n'
            text += ''.join(f'| `{option}` | {meaning.replace("|", chr(92) + "|")} |\n' for option, meaning in rows)
    return text


def metric_page():
    """Every id of a metric with the label and unit that the code gives it, and its sentence in the report."""
    code = '\n'.join(path.read_text() for path in sorted((ROOT / 'sim').rglob('*.cpp')))
    code = re.sub(r'msgid\(("[^"]*")\)', r'\1', code)
    lists = re.findall(r'k(?:Task|Session)Ids\[\] = \{(.*?)\};', code, re.S)
    if len(lists) != 2:
        sys.exit('no file of sim/ has the lists kTaskIds and kSessionIds')
    ids, labels = re.findall(r'"([a-z_]+)"', ''.join(lists)), {}
    for one in lists:
        code = code.replace(one, '')
    for name, label, unit in re.findall(r'"([a-z_]+)",\s*"([^"]+)",\s*"([^"]*)"', code):
        labels.setdefault(name, []).append((label, unit))
    notes = dict(re.findall(r'^  (\w+): "(.*)",$', (ROOT / 'app/report/web/metric_notes.js').read_text(), re.M))
    text = ('# Metrics, the list\n\nEvery id that `trocar score` writes and a curriculum can limit, with the label and the unit of the program. '
            'Formulas and sources: [metrics](metrics.md), [tasks](tasks.md).\n')
    for title, wanted in (('Of a session and of each instrument', False), ('Parts of a task', True)):
        text += f'\n## {title}\n\n| id | label | unit | meaning |\n|---|---|---|---|\n'
        for name in ids:
            if name.startswith('task_') == wanted:
                if name not in labels:
                    sys.exit(f'{name}: no file of sim/ gives this metric a label')
                label, unit = ' / '.join(dict.fromkeys(label for label, _ in labels[name])), labels[name][0][1]
                text += f'| `{name}` | {label} | {unit} | {notes.get(name, "")} |\n'
    return text


def column_page():
    document = (ROOT / 'docs/file-formats.md').read_text()
    tables = re.findall(r'^\| column \| rows \|.*\n(?:\|.*\n)+', document, re.M)
    if not tables:
        sys.exit('docs/file-formats.md: no table of the columns of a recording')
    return ('# Columns of a recording\n\nThe tables of an HDF5 file. How they belong together, and how Python reads them: '
            '[file formats](file-formats.md#recording).\n\n') + with_links(with_empty_lines(tables[0]), ROOT / 'docs/file-formats.md')


# ---- headers for Doxygen

COMMENT = re.compile(r'^(\s*)//(?!/) ?(.*)$')
BEHIND = re.compile(r'^(.*[;,}{)]|\s*[A-Z]\w*)(\s+)// (.*)$')


def escaped(text):
    """The text without characters that Doxygen takes as commands, tags or links; code in backticks stays."""
    parts = re.split(r'(`[^`]*`)', text)
    return ''.join(part if part.startswith('`') else re.sub(r'([\\@#<>&%"$])', r'\\\1', part) for part in parts)


def marked_header(text):
    """The header with `///` for comments before a declaration and `///<` behind one; the opening comment describes the file."""
    lines, out = text.split('\n'), []
    while lines and COMMENT.match(lines[0]):
        out.append('/// ' + escaped(COMMENT.match(lines.pop(0))[2]) + (' \\file' if not out else ''))
    k = 0
    while k < len(lines):
        end = k
        while end < len(lines) and COMMENT.match(lines[end]):
            end += 1
        belongs = end < len(lines) and lines[end].strip() not in ('', '}', '};') and not lines[end].startswith('#')
        for line in lines[k:end]:
            found = COMMENT.match(line)
            out.append(f'{found[1]}/// {escaped(found[2])}' if belongs else line)
        if end == k:
            found = BEHIND.match(lines[k])
            comment = found and not re.search(r'"|}  // namespace', lines[k])
            out.append(f'{found[1]}{found[2]}///< {escaped(found[3])}' if comment else lines[k])
        k = max(end, k + 1)
    return '\n'.join(out)


def make_api(version):
    """The number of Doxygen's warnings, which undocumented functions cause."""
    shutil.rmtree(WORK / 'headers', ignore_errors=True)
    for room in API_ROOMS:
        for header in (ROOT / room).rglob('*.hpp'):
            text = header.read_text()
            if '#pragma once' not in text or '\nnamespace {\n' in text:
                continue  # a part of another file, which it is included into
            copy = WORK / 'headers' / header.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(marked_header(text))
    subprocess.run(['doxygen', 'docs/Doxyfile'], cwd=ROOT, check=True, env={**os.environ, 'TROCAR_VERSION': version})
    for page in (PAGES / 'api').glob('*.html'):  # Doxygen links to a list of nested classes that it left out, when they are private
        text = page.read_text()
        if '#nested-classes"' in text and 'name="nested-classes"' not in text:
            page.write_text(re.sub(r'<a href="#nested-classes">Classes</a>(?: &#124;\n)?', '', text))
    return len((WORK / 'doxygen_warnings.txt').read_text().splitlines())


API_PAGE = '''# Classes and functions

The API pages are made from the comments of the headers: **[open them](api/index.html)**.

| part | start with |
|---|---|
| touch queries | [`TouchQuery`](api/classtrocar_1_1TouchQuery.html), [`ToolVolume`](api/structtrocar_1_1ToolVolume.html), [`TouchList`](api/structtrocar_1_1TouchList.html) |
| tissue | [`TissueModel`](api/structtrocar_1_1TissueModel.html), [`TissueParams`](api/structtrocar_1_1TissueParams.html) |
| sessions | [`Session`](api/classtrocar_1_1Session.html), [`Scene`](api/structtrocar_1_1Scene.html), [`Device`](api/classtrocar_1_1Device.html) |
| tasks and scores | [`TaskGoal`](api/classtrocar_1_1TaskGoal.html), [`Attempt`](api/structtrocar_1_1Attempt.html) |

How to link the library: [library](library.md). Lengths are metres, times seconds, forces newtons, unless a name says otherwise.
'''


# ---- the links of the built site

class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.anchors, self.loaded = [], set(), []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(value for key in ('id', 'name') if (value := values.get(key)))
        for key in ('href', 'src'):
            if value := values.get(key):
                self.links.append(value)
                if tag != 'a' and re.match(r'(?:https?:)?//', value) and values.get('rel') != 'canonical':
                    self.loaded.append(value)


def link_faults():
    read = {}
    for path in sorted(OUT.rglob('*.html')):
        read[path] = Links()
        read[path].feed(path.read_text(errors='replace'))
    faults, count = [], 0
    for path, page in read.items():
        name = path.relative_to(OUT)
        faults += [f'{name}: loads {link}' for link in page.loaded]
        if name.name == '404.html':
            continue  # served at any address, with links from the top of the server
        for link in page.links:
            if re.match(r'[a-z]+:|//', link) or link.startswith('#__') or link in ('#', '.'):
                continue
            count += 1
            file, _, anchor = link.partition('#')
            target = (path.parent / unquote(file.split('?')[0])).resolve() if file else path
            if not target.exists():
                faults.append(f'{name}: link to {link}: no such page')
            elif anchor and target in read and unquote(anchor) not in read[target].anchors:
                faults.append(f'{name}: link to {link}: no such heading')
    return count, sorted(set(faults))


def make_pages(trocar, reference):
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / 'docs', PAGES, ignore=shutil.ignore_patterns('*.md', '*.py', '*.yml', '*pp', '*.txt', 'Doxyfile'))
    for source in (ROOT / 'docs').glob('*.md'):
        (PAGES / source.name).write_text(page_of(source))
    for page, name in OTHER_PAGES.items():
        (PAGES / page).write_text(page_of(ROOT / name))
    (PAGES / 'scene-keys.md').write_text(scene_key_page(reference))
    (PAGES / 'commands.md').write_text(command_page(trocar))
    (PAGES / 'metric-list.md').write_text(metric_page())
    (PAGES / 'columns.md').write_text(column_page())
    (PAGES / 'api.md').write_text(API_PAGE)
    wanted = set(re.findall(r'[\w-]+\.md', (ROOT / 'docs/mkdocs.yml').read_text().split('nav:')[1]))
    found = {path.name for path in PAGES.glob('*.md')}
    if wanted != found:
        sys.exit(f'docs/mkdocs.yml and the pages differ: {", ".join(sorted(wanted ^ found))}')
    return len(found)


def main():
    arguments = sys.argv[1:]
    only_pages = '--pages' in arguments and not arguments.remove('--pages')
    trocar, reference = (str(Path(name).resolve()) for name in arguments)
    version = re.search(r'^project\(trocar VERSION ([\d.]+)', (ROOT / 'CMakeLists.txt').read_text(), re.M)[1]
    pages = make_pages(trocar, reference)
    if only_pages:
        print(f'{pages} pages in {PAGES.relative_to(ROOT)}')
        return 0
    subprocess.run(['dot', '-Tsvg', 'docs/figures/architecture.dot', '-o', PAGES / 'figures/architecture.svg'], cwd=ROOT, check=True)
    warnings = make_api(version)
    subprocess.run(['mkdocs', 'build', '--strict', '--quiet', '--config-file', 'docs/mkdocs.yml'], cwd=ROOT, check=True)
    count, faults = link_faults()
    print('\n'.join(faults[:40]))
    print(f'{pages} pages and {len([*(OUT / "api").glob("*.html")])} API pages in {OUT.relative_to(ROOT)}; {count} links, {len(faults)} '
          f'broken; {warnings} lines of Doxygen about missing comments\n'
          f'Read them with search: /usr/bin/python3 -m http.server --bind 127.0.0.1 --directory {OUT.relative_to(ROOT)}')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
