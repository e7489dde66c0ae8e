"""Runs the tests of the scratch copy: finds the mutants that each test reaches, and the effect of a mutant on them."""
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

TIERS = (0.05, 0.5, 5.0)         # s  tests up to this long run together, the cheapest first
SLOWEST_START = 5.0              # s  added to every limit, for process start and machine load
MOST_MEMORY = 6 << 30            # bytes of data segment
MOST_OUTPUT = 1 << 30            # bytes of a file
TRACE_LIMIT = 3600               # s  for all tests of one program


@dataclass
class Test:
    program: str
    name: str
    seconds: float
    reached: set = field(default_factory=set)


def limits():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_OUTPUT, MOST_OUTPUT))


def run(command, environment, folder, limit):
    """Returns (exit status, output), or (None, output) when the time limit has passed."""
    scratch = tempfile.mkdtemp(prefix='trocar_mutant_')
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, **environment, 'TMPDIR': scratch},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               preexec_fn=limits, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=limit)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        return None, b''
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.communicate()
        shutil.rmtree(scratch, ignore_errors=True)


class Programs:
    def __init__(self, build, work):
        self.build, self.work = build, work
        self.paths = {}

    def path(self, target):
        if target not in self.paths:
            self.paths[target] = next(p for p in self.build.rglob(target) if p.is_file() and os.access(p, os.X_OK))
        return self.paths[target]

    def trace(self, target):
        """Returns the passing tests of a program with the mutants that each one reaches, and the names of the failing ones."""
        path, file = self.path(target), self.work / f'{target}.trace'
        file.unlink(missing_ok=True)
        environment = {'TROCAR_MUTANT': 'trace', 'TROCAR_MUTANT_TRACE': str(file)}
        run([path, '--gtest_brief=1'], environment, path.parent, TRACE_LIMIT)
        reached, seconds = {}, {}
        for line in file.read_text().split('\n')[:-1] if file.exists() else []:
            name, time_taken, numbers = line.split('\t')
            reached.setdefault(name.lstrip('!'), set()).update(int(n) for n in numbers.split())
            if float(time_taken) > 0.0 or not name.endswith('*'):
                seconds[name] = seconds.get(name, 0.0) + float(time_taken)
        tests = [Test(target, name, taken, reached[name] | reached.get(name.split('.')[0] + '.*', set()) |
                      reached.get('*', set())) for name, taken in seconds.items() if not name.startswith('!')]
        return tests, [f'{target} {name[1:]}' for name in seconds if name.startswith('!')]

    def batches(self, tests):
        """Tests in the order to run them: cheap tiers first, one process per program and tier, slow tests alone."""
        result = []
        for low, high in zip((-1.0,) + TIERS, TIERS):
            programs = {}
            for test in tests:
                if low < test.seconds <= high:
                    programs.setdefault(test.program, []).append(test)
            result += sorted(programs.values(), key=lambda batch: sum(t.seconds for t in batch))
        slow = sorted((t for t in tests if t.seconds > TIERS[-1]), key=lambda t: t.seconds)
        return result + [[test] for test in slow]

    def verdict(self, tests, environment, budget):
        """('killed' | 'timed out' | 'survived' | 'does not compile', by what). Tests beyond the budget (s) are not run;
        the mutant then counts as survived, 'budget spent'."""
        start = time.monotonic()
        for batch in self.batches(tests):
            if time.monotonic() - start > budget:
                return 'survived', 'budget spent'
            path = self.path(batch[0].program)
            names = ':'.join(t.name for t in batch)
            limit = 10.0 * sum(t.seconds for t in batch) + SLOWEST_START
            status, output = run([path, '--gtest_fail_fast', '--gtest_brief=1', f'--gtest_filter={names}'], environment,
                                 path.parent, limit)
            if status is None:
                return 'timed out', batch[0].program
            if status != 0:
                failed = re.search(rb'\[  FAILED  \] ([\w/.]+)', output)
                compiled = not re.search(rb'shader \S+: \S*\d+[:(]\d+.*(error|expected)', output)
                return ('killed' if compiled else 'does not compile',
                        failed[1].decode() if failed else f'{batch[0].program} status {status}')
        return 'survived', f'{len(tests)} tests'
