#!/usr/bin/python3
"""Makes the template of all texts that a trainee reads, data/po/trocar.pot, and the English catalogue, data/po/en.po:
texts of the program by xgettext, texts of scenes and curricula from their TOML files.
  make_pot.py [--check]     --check: changes nothing; exit status 1 when a file is not up to date, 77 without xgettext.
Kinds of texts and how they are marked: docs/translating.md"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ['sim/score', 'sim/task', 'sim/course', 'sim/support', 'sim/review', 'app/lab', 'app/sound', 'app/window']
# Functions whose argument of this number is a text: those of geometry/translate.hpp, labels of the window's controls,
# labels of metrics.
KEYWORDS = ['tr', 'trf', 'ntr:1,2', 'ntrf:1,2', 'append_trf:2', 'msgid', 'button', 'label', 'tab', 'row', 'choice',
            'slider', 'check', 'check_beside', 'number', 'position', 'flag', 'direction', 'kind_choice', 'mode',
            'beside', 'topic', 'settings_topic', 'choice_of', 'device_choice', 'add:2', 'add_judged:2', 'of_whole:2', 'GradeSentences:3', 'GradeSentences:4']
# Further files with texts.
FILES = ['sim/scene/scene_variants.cpp']
# Files of tables whose every text is shown.
TABLES = ['app/window/input/keys.cpp']
# Keys of TOML files that a trainee reads, by the name of their table; "": any.
DATA_KEYS = {('', 'title'), ('', 'instructions'), ('level', 'name'), ('organ', 'name'), ('instrument', 'name'),
             ('layer', 'name'), ('band', 'name')}
HEADER = '''# Texts of Trocar. Made by packaging/make_pot.py: do not edit {name}.
msgid ""
msgstr ""
"Project-Id-Version: Trocar\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: {plural}\\n"
{more}
'''


def program_texts():
    """Returns the entries of xgettext: [(msgid, plural or None)]."""
    files = [str(path.relative_to(ROOT)) for folder in FOLDERS for path in sorted((ROOT / folder).rglob('*.[ch]pp'))]
    files += FILES
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / 'out.po'
        plain = ['xgettext', '--from-code=UTF-8', '--language=C++', '--no-location', '--no-wrap', '--omit-header',
                 '-o', str(out)]
        keywords = ['--keyword'] + [f'--keyword={word}' for word in KEYWORDS]
        texts = []
        for run in (plain + keywords + files, plain + ['--extract-all'] + TABLES):
            out.unlink(missing_ok=True)
            subprocess.run(run, cwd=ROOT, check=True, stderr=subprocess.DEVNULL)
            texts += entries(out.read_text()) if out.exists() else []
    return texts


def entries(text):
    found = []
    for block in text.split('\n\n'):
        parts = {}
        name = None
        for line in block.splitlines():
            if match := re.match(r'(msgid|msgid_plural|msgstr(?:\[\d\])?) (".*")$', line):
                name = match[1]
                parts[name] = match[2][1:-1]
            elif line.startswith('"') and name:
                parts[name] += line[1:-1]
        if parts.get('msgid'):
            found.append((parts['msgid'], parts.get('msgid_plural')))
    return found


def metric_words():
    """The words of a metric in a curriculum come from its id: sim/course/course_progress.hpp."""
    texts = set()
    for folder in ('sim/score', 'sim/task', 'sim/review'):
        for path in (ROOT / folder).glob('*.cpp'):
            for name in re.findall(r'(?:add|add_judged)\(\s*"([a-z_]+)"|return \{"([a-z_]+)", msgid\(', path.read_text()):
                texts.add(re.sub('^task_', '', name[0] or name[1]).replace('_', ' '))
    return [(text, None) for text in texts]


def data_texts():
    texts = set()

    def walk(table, value):
        if isinstance(value, list):
            for one in value:
                walk(table, one)
        elif isinstance(value, dict):
            for key, one in value.items():
                if isinstance(one, str) and {(table, key), ('', key)} & DATA_KEYS:
                    texts.add(one)
                walk(key, one)

    for path in [*(ROOT / 'data/scenes').rglob('*.toml'), *(ROOT / 'data/curricula').rglob('*.toml')]:
        with open(path, 'rb') as file:
            walk('', tomllib.load(file))
    quote = {'\\': '\\\\', '"': '\\"', '\n': '\\n', '\t': '\\t'}
    return [(''.join(quote.get(letter, letter) for letter in text), None) for text in texts]


def catalogue(name, plural, more, translate):
    """`translate`: of (text, number of the plural form or None)."""
    plurals = {}
    for text, many in program_texts() + data_texts() + metric_words():
        if re.search(r'[^\W\d_]', text):
            plurals[text] = plurals.get(text) or many
    lines = [HEADER.format(name=name, plural=plural, more=more)]
    for text in sorted(plurals):
        many = plurals[text]
        lines.append(f'msgid "{text}"\n')
        if many:
            lines.append(f'msgid_plural "{many}"\n')
            lines += [f'msgstr[{k}] "{translate(one, k)}"\n' for k, one in enumerate((text, many))]
        else:
            lines.append(f'msgstr "{translate(text, None)}"\n')
        lines.append('\n')
    return ''.join(lines).rstrip('\n') + '\n'


ENGLISH = 'nplurals=2; plural=(n != 1);'


def main():
    if not shutil.which('xgettext'):
        print('xgettext is missing: install the package gettext', file=sys.stderr)
        return 77
    wanted = {'trocar.pot': catalogue('trocar.pot', ENGLISH, '', lambda text, form: ''),
              'en.po': catalogue('en.po', ENGLISH, '"Language: en\\n"\n"X-Language-Name: English\\n"\n', lambda text, form: text)}
    old = [name for name, text in wanted.items()
           if not (ROOT / 'data/po' / name).exists() or (ROOT / 'data/po' / name).read_text() != text]
    if '--check' in sys.argv:
        for name in old:
            print(f'data/po/{name} is not up to date; run packaging/make_pot.py', file=sys.stderr)
        return 1 if old else 0
    (ROOT / 'data/po').mkdir(exist_ok=True)
    for name in old:
        (ROOT / 'data/po' / name).write_text(wanted[name])
    count = wanted['en.po'].count('\nmsgid "') - 1
    print(f'{count} texts, {len(old)} files written')
    return 0


if __name__ == '__main__':
    sys.exit(main())
