#!/usr/bin/python3
"""Runs trocar-sweep-mpi under mpirun: 1, 2 and 4 ranks give the bytes of `trocar sweep`; a killed rank ends the job, which then
goes on to the same bytes; wrong input is one sentence and status 2.
  sweep_mpi_test.py TROCAR TROCAR_SWEEP_MPI OUT      Exit status 77: skipped, no mpirun."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

trocar, program, out = (str(pathlib.Path(argument).resolve()) for argument in sys.argv[1:])
out = pathlib.Path(out)
if not shutil.which('mpirun'):
    print('mpirun is missing: not tried')
    sys.exit(77)
shutil.rmtree(out, ignore_errors=True)
(out / 'tmp').mkdir(parents=True)
SCRIPT = '''#!/bin/sh
while [ $# -gt 0 ]; do case $1 in --modulus) m=$2;; --out) o=$2;; esac; shift; done
case $m in 13) kill -SEGV $$;; esac
sleep 0.05
[ "$m" -le 15 ] || while [ -e hold ]; do sleep 0.02; done
printf 'strain,force_n\\n0.1,%s\\n' "$m" > "$o"
'''
(out / 'script').write_text(SCRIPT)
(out / 'script').chmod(0o700)
moduli = ', '.join(str(m) for m in range(1, 31))
(out / 'plan.toml').write_text(f'[[cases]]\nrun = "tissue"\nmodulus = [{moduli}]\npoisson = [0.3, 0.4]\n')
# Short folder names: Open MPI makes sockets in the folder for temporary files.
ENVIRONMENT = dict(os.environ, OMPI_MCA_rmaps_base_oversubscribe='1', TMPDIR=str(out / 'tmp'), OMPI_ALLOW_RUN_AS_ROOT='1',
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1', OMPI_MCA_orte_tmpdir_base='/tmp')


def command(ranks, name, plan='plan.toml'):
    words = [plan, '--program', str(out / 'script'), '-o', f'{name}.h5', '--csv', f'{name}.csv']
    return ['mpirun', '--oversubscribe', '-n', str(ranks), program, *words] if ranks else [trocar, 'sweep', *words]


def run(*what):
    return subprocess.run(command(*what), cwd=out, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)


def results(name):
    return (out / f'{name}.h5').read_bytes() + (out / f'{name}.csv').read_bytes()


def check(fine, why):
    if not fine:
        print(f'FAILED: {why}', file=sys.stderr)
        sys.exit(1)


def ranks_of(name):
    """Processes of ranks by their number."""
    found = {}
    for folder in pathlib.Path('/proc').glob('[0-9]*'):
        try:
            words = (folder / 'cmdline').read_bytes().split(b'\0')
            if words[0] == program.encode() and f'{name}.h5'.encode() in words:
                rank = re.search(rb'OMPI_COMM_WORLD_RANK=(\d+)', (folder / 'environ').read_bytes())
                found[int(rank[1])] = int(folder.name)
        except (OSError, TypeError):
            continue
    return found


done = run(0, 'alone')
check(done.returncode == 1 and '2 of 60 cases are not done' in done.stderr, done.stderr)
for ranks in (1, 2, 4):
    done = run(ranks, f'ranks{ranks}')
    check(done.returncode == 1 and '2 of 60 cases are not done' in done.stderr, done.stderr)
    check(results(f'ranks{ranks}') == results('alone'), f'{ranks} ranks give other bytes')

# The later cases wait for `hold` to go, so that a job is killed in its middle on a machine of any speed.
hold = out / 'hold'
for victim in (2, 0):
    name = f'killed{victim}'
    hold.touch()
    job = subprocess.Popen(command(4, name), cwd=out, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal = out / f'{name}.h5.journal'
    start = time.monotonic()
    while not (journal.exists() and journal.read_bytes().count(b'\n') > 8):
        check(time.monotonic() - start < 60 and job.poll() is None, 'the job does not begin')
        time.sleep(0.01)
    os.kill(ranks_of(name)[victim], signal.SIGKILL)
    ended = job.wait(60)
    hold.unlink()
    check(ended != 0, 'a killed rank does not end the job')
    check(journal.exists() and not (out / f'{name}.h5').exists(), 'no journal, or results, after a kill')
    done = run(2, name)
    check('of 60 cases are in the journal' in done.stdout, done.stdout)
    check(results(name) == results('alone'), f'other bytes after rank {victim} was killed')

done = run(2, 'wrong', 'none.toml')
check(done.returncode == 2 and 'trocar-sweep-mpi: none.toml: there is no such file' in done.stderr, done.stderr)
check(not list(out.glob('wrong*')), 'wrong input leaves files')
check(not list((out / 'tmp').glob('trocar-sweep-*')), 'temporary folders stay')
print('1, 2 and 4 ranks, and jobs with a killed rank, give the same bytes')
