#!/usr/bin/python3
"""Runs every `trocar ...` command line of README.md and docs/ with sample files.

    tests/app/documented_commands_test.py TROCAR MAKE_ATTEMPT

A command line counts when it has an argument. Outside README.md and the user guide, which show whole command lines, a
missing argument is allowed: other documents name a command with the option they speak of. Optional parts in brackets are
tried without and with, of alternatives (`a | b`) the first is taken, and names such as S.h5, SCENE.toml, M or N stand for
sample files and numbers. A command may take three seconds; it is then stopped and counts as understood. `trocar run` needs
a window and is only parsed; `trocar lab enter` needs the recording of a person and is left out. Exit status 1 when the
program refuses a command line as wrong usage, or a command without a window fails.
"""
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINE = re.compile(r'(?:^|[`\s])(?:build/\w+/app/|\./(?=trocar lab))?trocar ((?:lab(?! enter| --)|run|query|compare|record|perform|replay|file|score|'
                  r'export|report|mesh|tissue|sweep|doctor|demo)\b[^`\n#]*)')
VALUES = {'N': '2000', 'a,b': 'scan,obb-refit', 'OUT': 'out.obj', 'MM': '2.5', 'X,Y,Z': '30,20,10', 'E1,E2': '1,1', 'H': '0.5', 'HOST': 'localhost', 'DIR': 'out',
          'TASK.toml': 'scene.toml', 'SCENE.toml': 'scene.toml', 'S.toml': 'scene.toml', 'SCENE': 'scene.toml',
          'M': 'organ.obj', 'A0': 'organ.obj', 'A1': 'organ.obj', 'B0': 'organ.obj', 'B1': 'organ.obj', 'data/scenes/tasks/TASK.toml': 'scene.toml', 'FRAMES': '3', '$SLURM_ARRAY_TASK_ID/64': '1/64',
          '$SLURM_CPUS_PER_TASK': '2', 'KEY': '0' * 32}
INCOMPLETE = re.compile(r'is required|required TEXT missing|needs either')
SECONDS = 3


def lab_folders(folder):
    return {'XDG_DATA_HOME': f'{folder}/lab', 'XDG_CONFIG_HOME': f'{folder}/lab'}


def sample_people(trocar, folder):
    """Two people with two attempts each, which wait at the station as after a practice, and a backup."""
    waiting = folder / 'lab/trocar/waiting'
    waiting.mkdir(parents=True)
    for number in range(4):
        attempt = {'format': 'trocar-attempt-1', 'key': f'{number:032x}', 'person': ('zoe', 'li')[number % 2], 'station': 's',
                   'scene': 'touch_targets', 'title': 'Touch the targets', 'level': 1, 'kind': 'touch-targets', 'ending': 'done',
                   'devices': 'mouse', 'started': 1e9 + number, 'seconds': 30.0, 'score': 90.0, 'critical': False, 'version': '1',
                   'recording': '', 'metrics': {'task.task_time': 30.0}}
        (waiting / f'{number}.attempt.json').write_text(json.dumps(attempt))
    subprocess.run([trocar, 'lab', 'backup', '-o', 'lab-2026-11.sqlite'], cwd=folder, check=True, capture_output=True,
                   env={'PATH': '/usr/bin:/bin', **lab_folders(folder)})


def sample_files(trocar, make_attempt, folder):
    """An organ, an attempt of the program in the browser, a recording under the names that the documents use, trajectories, tool shapes, a scene with a task."""
    for name in ('organs', 'scenes'):
        shutil.copytree(ROOT / 'data' / name, folder / 'data' / name)
    shutil.copy(ROOT / 'data/organs/gallbladder.obj', folder / 'organ.obj')
    text = (ROOT / 'data/scenes/tasks/touch_targets.toml').read_text()
    (folder / 'scene.toml').write_text(text.replace('../../organs', 'data/organs'))
    rows = [f'{t / 60},0,20,300,{t},0,60' for t in range(4)]
    (folder / 'T.csv').write_text('t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z\n' + '\n'.join(rows) + '\n')
    subprocess.run([trocar, 'demo', '--headless', '--frames', '20', '--backend', 'scan', '--out', 'made'], cwd=folder,
                   check=True, capture_output=True)
    for name in ('S', 'A', 'B', 'C', 'T', 'session', 'monday', 'tuesday', 'friday'):
        shutil.copy(folder / 'made/session.h5', folder / f'{name}.h5')
    for name, form in (('packed', []), ('compact', ['--compact'])):
        subprocess.run([trocar, 'file', 'pack', 'S.h5', *form, '-o', f'{name}.h5'], cwd=folder, check=True, capture_output=True)
    subprocess.run([make_attempt, 'scenes/tasks/touch_targets.toml', '5', 'attempt.json'], cwd=folder, check=True)
    sample_people(trocar, folder)
    (folder / 'DATA.csv').write_text('strain,force_n\n0.05,0.6\n0.1,1.3\n0.15,2.1\n0.2,2.9\n')
    (folder / 'PLAN.toml').write_text('[[cases]]\nrun = "tissue"\ndiameter = 20\nheight = 12\nspacing = 4\nsteps = 1\n')
    (folder / 'M.toml').write_text('law = "rising"\nyoungs_modulus = 6000\npoisson_ratio = 0.46\n')
    for name in ('J', 'K'):
        subprocess.run([trocar, 'mesh', 'make', 'superellipsoid', '--faces', '200', '--size', '5,5,5', '--exponents', '1,1',
                        '-o', f'{name}.stl'], cwd=folder, check=True, capture_output=True)


def variants(line):
    """The command lines that a synopsis stands for: without and with its optional parts."""
    line = line.strip().rstrip('.,;:').replace('\\|', '|').replace(' ...', '')
    line = re.split(r'\s{2,}', line)[0] if not line.startswith('run [') else line
    without = re.sub(r'\[(?!INSTRUMENT)[^\]]*\]', ' ', line)
    within = re.sub(r'\[(?!INSTRUMENT)([^\]]*)\]', r'\1', line)
    for text in sorted({without, within}):
        text = re.sub(r'(\S+)(?:\s*\|\s*-?[\w-]+(?: DIR)?)+', r'\1', text.replace('[INSTRUMENT=]', 'grasper='))
        yield text


def words_of(text):
    words = [VALUES.get(word, word) for word in shlex.split(text)]
    return [name for word in words for name in (['A.h5', 'B.h5'] if word == '*.h5' else [word])]


def command_lines():
    for document in [ROOT / 'README.md', *sorted((ROOT / 'docs').glob('*.md'))]:
        for number, row in enumerate(document.read_text().split('\n'), 1):
            for match in LINE.finditer(row):
                if len(match[1].split()) > 1:
                    yield f'{document.name}:{number}', match[1]


def run(trocar, words, samples):
    """(exit status, what it says); None: stopped after SECONDS."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(samples, folder, dirs_exist_ok=True)
        if '-o' in words and words[0] == 'mesh':
            words = words[:-1] + ['new_' + words[-1]]
        for fresh in ('-o', '--out'):
            if fresh in words:
                Path(folder, words[words.index(fresh) + 1]).unlink(missing_ok=True)
        try:
            done = subprocess.run([trocar, *words], cwd=folder, capture_output=True, text=True, timeout=SECONDS,
                                  env={'PATH': '/usr/bin:/bin', 'TROCAR_DATA': f'{folder}/data', **lab_folders(folder)})
        except subprocess.TimeoutExpired:
            return None, ''
        return done.returncode, done.stderr.strip()


def main():
    trocar, make_attempt = (str(Path(name).resolve()) for name in sys.argv[1:3])
    tried, failed = set(), 0
    with tempfile.TemporaryDirectory() as folder:
        sample_files(trocar, make_attempt, Path(folder))
        for where, line in command_lines():
            for text in variants(line):
                words = words_of(text)
                if tuple(words) in tried or len(words) < 2 and words[0] != 'doctor':
                    continue
                tried.add(tuple(words))
                status, said = run(trocar, words, folder)
                if status in (None, 0) or (words[0] == 'run' and '--help' not in said):
                    continue
                if INCOMPLETE.search(said) and (len(words) < 3 or not where.startswith(('README', 'user-guide'))):
                    continue
                failed += 1
                print(f'{where}: trocar {" ".join(words)}\n    exit status {status}: {said}')
    print(f'{len(tried)} command lines, {failed} fail')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
