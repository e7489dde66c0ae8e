"""Makes the scratch copy of the project with every mutant in it and builds it once, with the dev preset. Objects that no mutant
changes come from the compiler cache, if there is one.

Files that do not change keep their time stamp, so that a second run builds little. Sites that do not compile are
dropped: the compiler's messages name their lines.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import sites

HERE = Path(__file__).resolve().parent
ROUNDS = 12                 # builds that may drop sites; the run fails if sites still do not compile after them

TEST_HOOK = '''
# Added by the mutation run.
add_library(trocar_mutant STATIC mutate/mutant.cpp)
target_include_directories(trocar_mutant PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(trocar_flags INTERFACE trocar_mutant)
add_library(trocar_mutant_listener OBJECT mutate/listener.cpp)
'''
FOLDER_HOOK = '''
set_property(SOURCE {sources} APPEND PROPERTY COMPILE_OPTIONS -w -Wno-narrowing -fpermissive)
'''


def write(path, data):
    if path.exists() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


class Tree:
    def __init__(self, source, work, jobs):
        self.source, self.root, self.build = source, work / 'tree', work / 'tree' / 'build' / 'dev'
        self.jobs = jobs
        self.files, self.original, self.edits = [], {}, {}
        self.dropped, self.unmutated = 0, []

    def copy(self):
        names = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard'], cwd=self.source, check=True,
                               capture_output=True, text=True).stdout.split('\n')
        wanted = {name for name in names if name and (self.source / name).is_file()}
        for name in wanted:
            data = (self.source / name).read_bytes()
            self.original[name] = data
            target = self.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                shutil.copy2(self.source / name, target)
        if self.root.exists():
            for path in self.root.rglob('*'):
                name = path.relative_to(self.root)
                inside = name.parts[0] in ('mutate', 'build') or 'node_modules' in name.parts
                if path.is_file() and not inside and str(name) not in wanted:
                    path.unlink()

    def adapted(self, name):
        """The build files and the shader table of the copy, with the hooks that the mutants need."""
        data = self.original[name]
        folder, _, last = name.rpartition('/')
        if last == 'CMakeLists.txt':
            mutated = [os.path.relpath(file, folder) for file, edits in sorted(self.edits.items())
                       if edits and file.endswith('.cpp') and self.room_of(file) == folder]
            return data + FOLDER_HOOK.format(sources=' '.join(mutated)).encode() if mutated else data
        if name not in ('cmake/trocar_room.cmake', 'gpu_collision/shader_table.cpp.in'):
            return data
        text = data.decode()
        if name == 'cmake/trocar_room.cmake':
            text += TEST_HOOK
            text = text.replace('add_executable(test_${name} ${TEST_SOURCES})',
                                'add_executable(test_${name} ${TEST_SOURCES} $<TARGET_OBJECTS:trocar_mutant_listener>)')
        else:
            text = text.replace('#include <cassert>', '#include <cassert>\n#include <cstdlib>\n#include <fstream>\n'
                                                      '#include <iterator>\n#include <map>\n#include <string>')
            text = text.replace('@SHADER_TABLE@', SHADER_HOOK + '@SHADER_TABLE@')
        return text.encode()

    def room_of(self, file):
        """The folder whose CMakeLists.txt compiles the file."""
        return next(str(parent) for parent in Path(file).parents if str(parent / 'CMakeLists.txt') in self.original)

    def mutated(self, name, data):
        """The text of a mutated file. As a system header it causes no warnings; line numbers do not change."""
        start, text = '#include "mutate/mutant.hpp"\n#line 1\n', sites.apply(data, self.edits[name])
        if name.endswith('.hpp'):
            space = 'trocar_mut_' + re.sub(r'\W', '_', name)
            start = f'#pragma GCC system_header\n#define TROCAR_MUT_SPACE {space}\n' + start
            text = text.replace(b'trocar_mut::', space.encode() + b'::')
        return start.encode() + text

    def write_all(self, count):
        for name in self.original:
            data = self.adapted(name)
            if self.edits.get(name):
                data = self.mutated(name, data)
            write(self.root / name, data)
        for name in ('mutant.hpp', 'mutant.cpp', 'listener.cpp'):
            text = (HERE / name).read_text()
            if name == 'mutant.cpp':
                text = f'#define TROCAR_MUTANTS {max(count, 1)}\n#line 1\n' + text
            write(self.root / 'mutate' / name, text.encode())

    def configure(self):
        done = subprocess.run(['cmake', '--preset', 'dev', '-DTROCAR_UNITY=OFF'], cwd=self.root, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f'cmake failed on the scratch copy:\n{done.stdout[-2000:]}{done.stderr[-4000:]}')

    def arguments(self):
        """[file name] arguments with which libclang parses it; a header is parsed like a source of its folder."""
        by_file, by_folder = {}, {}
        for entry in json.loads((self.build / 'compile_commands.json').read_text()):
            name = os.path.relpath(entry['file'], self.root)
            words = shlex.split(entry['command'])
            kept = [w for i, w in enumerate(words) if w.startswith(('-D', '-I', '-std')) or words[i - 1] == '-isystem'
                    or w == '-isystem']
            by_file[name] = kept
            by_folder.setdefault(name.split('/')[0], kept)
        return lambda name: ['-x', 'c++', '-Wno-everything'] + by_file.get(name, by_folder.get(name.split('/')[0], []))

    def ninja(self, targets):
        command = ['nice', 'ninja', '-C', self.build, '-k', '0', f'-j{self.jobs}', *targets]
        done = subprocess.run(command, capture_output=True, text=True, errors='replace')
        return done.returncode, done.stdout + done.stderr

    def drop_sites_in(self, log):
        """Drops the sites on the lines, or of the numbers, that the compiler's errors name; returns how many."""
        bad = {}                                    # [file] lines
        numbers = set()
        for block in re.split(r'\nFAILED: ', log)[1:]:
            lines = block.split('\n')
            for i, line in enumerate(lines):
                error = re.match(r'([^\s:]+):(\d+):\d+: (?:fatal )?error:', line)
                if not error:
                    continue
                name = os.path.relpath(self.build / error[1], self.root)
                if name in self.edits:
                    bad.setdefault(name, set()).add(int(error[2]))
                for other in lines[max(0, i - 3):i] if name in self.edits else lines[max(0, i - 12):i + 6]:
                    numbers |= {int(n) for n in re.findall(r'int I = (\d+)', other)}
        return self.drop(bad, numbers)

    def drop(self, bad, numbers):
        dropped = 0
        for name, edits in self.edits.items():
            data, kept = self.adapted(name), []
            for edit in edits:
                first = data.count(b'\n', 0, edit.start) + 1
                last = data.count(b'\n', 0, edit.end) + 1
                hit = any(first <= line <= last for line in bad.get(name, ()))
                if hit or edit.mutants[0].number in numbers:
                    dropped += 1
                else:
                    kept.append(edit)
            self.edits[name] = kept
        self.dropped += dropped
        return dropped

    def make(self, targets, count):
        for _ in range(ROUNDS):
            self.write_all(count)
            status, log = self.ninja(targets)
            if status == 0:
                return
            dropped = self.drop_sites_in(log)
            (self.build / 'failed.log').write_text(log)
            print(f'  {dropped} sites do not compile and are dropped', flush=True)
            if dropped == 0:
                raise SystemExit(f'the scratch copy does not build; see {self.build}/failed.log\n{log[-3000:]}')
        raise SystemExit(f'sites still do not compile after {ROUNDS} builds')


SHADER_HOOK = '''  if (const char* folder = std::getenv("TROCAR_MUTANT_SHADERS")) {
    static std::map<std::string, std::string> texts;
    std::ifstream in(std::string(folder) + "/" + std::string(file));
    if (in) return texts[std::string(file)] = std::string(std::istreambuf_iterator<char>(in), {});
  }
'''
