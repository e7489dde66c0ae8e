#!/usr/bin/python3
"""Tests that the program loads no code from the current folder:  current_folder_test.py PROGRAM C_COMPILER

A temporary folder gets a hostile library under every name that the program needs, and under names that the OpenGL loader, GLFW
and OpenAL look for while it runs. The program must run as if they were not there.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

LOADED = 42
HOSTILE = """#include <unistd.h>
__attribute__((constructor)) static void loaded(void) {
  static const char text[] = "LOADED FROM THE CURRENT FOLDER\\n";
  if (write(2, text, sizeof text - 1) > 0) _exit(%d);
  _exit(%d);
}
""" % (LOADED, LOADED)
# Looked for by name while the program runs.
LOADED_LATER = """libGL.so libGL.so.1 libEGL.so libEGL.so.1 libGLX.so.0 libGLX_mesa.so.0 libEGL_mesa.so.0 libOpenGL.so.0 libX11.so.6
libXext.so.6 libXrandr.so.2 libXinerama.so.1 libXcursor.so.1 libXi.so.6 libXxf86vm.so.1 libXrender.so.1 libX11-xcb.so.1
libxcb.so.1 libwayland-client.so.0 libwayland-egl.so.1 libwayland-cursor.so.0 libxkbcommon.so.0 libvulkan.so.1
libosmesa.so.6 libasound.so.2 libpulse.so.0 libpipewire-0.3.so.0 libjack.so.0 libportaudio.so.2 libdbus-1.so.3
libudev.so.1 swrast_dri.so libgallium_dri.so""".split()
COMMANDS = (['--version'], ['doctor', '--only', 'scan'], ['doctor', '--only', 'OpenGL'], ['doctor', '--only', 'devices'],
            ['mesh', 'check', 'cube.obj'])
CUBE = 'v 0 0 0\nv 60 0 0\nv 0 60 0\nv 0 0 60\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n'


def names_needed(program):
    text = subprocess.run(['ldd', program], capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in text.splitlines() if '=>' in line}


def main():
    program, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as work:
        return try_in(Path(work), str(Path(program).resolve()), compiler)


def try_in(work, program, compiler):
    (work / 'cube.obj').write_text(CUBE)
    (work / 'hostile.c').write_text(HOSTILE)
    subprocess.run([compiler, '-shared', '-fPIC', 'hostile.c', '-o', 'hostile'], cwd=work, check=True)
    names = sorted(names_needed(program) | set(LOADED_LATER))
    if 'libspnav.so.0' not in names:
        print('the program does not need libspnav.so.0; is this the program?')
        return 1
    for name in names:
        (work / name).symlink_to('hostile')
    (work / 'one').mkdir()
    (work / 'one' / 'libspnav.so.0').symlink_to('../hostile')
    environment = {name: value for name, value in os.environ.items() if not name.startswith(('LD_', 'LIBGL', 'ALSOFT'))}

    def run(folder, command, **more):
        return subprocess.run([program, *command], cwd=folder, env={**environment, **more}, capture_output=True, text=True,
                              check=False)

    # The trap works: where the loader is told to look here, the program does not run.
    wrong = []
    for folder in (work, work / 'one'):
        if run(folder, ['--version'], LD_LIBRARY_PATH='.').returncode in (0, 1):
            wrong.append(f'the trap in {folder} does not work')
    for folder, command in [(work / 'one', COMMANDS[0]), *((work, command) for command in COMMANDS)]:
        end = run(folder, command)
        if end.returncode not in (0, 1) or 'LOADED FROM' in end.stdout + end.stderr:
            wrong.append(f'{" ".join(command)}: status {end.returncode}: {(end.stdout + end.stderr)[-200:]}')
    print('\n'.join(wrong) or f'{len(names)} names, {len(COMMANDS)} commands: nothing of the current folder was loaded')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
