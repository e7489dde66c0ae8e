#!/usr/bin/python3
"""Compares what each library of ours includes with what its CMake target links.

    tests/check/links_scan.py

Every third-party header that a source of a target includes must be on the target's link line, and every third-party
library on the link line must be included by a source or header of the target. Rooms are checked too: a target includes
only rooms that it links, directly or through them. Exit status 1 when something differs; each finding is one line.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ('geometry', 'mesh', 'deform', 'gpu_collision', 'cpu_collision', 'study', 'sim', 'app')
# library on a link line, headers that belong to it
LIBRARIES = {'fmt::fmt': r'fmt/', 'nlohmann_json::nlohmann_json': r'nlohmann/', 'toml11::toml11': r'toml(\.hpp|/)',
             'hdf5::hdf5': r'(hdf5|H5\w+)\.h$', 'VTK::': r'vtk\w+\.h$', 'Eigen3::Eigen': r'Eigen/', 'trocar_glad': r'glad/',
             'glfw': r'GLFW/', 'PkgConfig::imgui': r'(imgui|stb)', 'PkgConfig::spnav': r'spnav\.h$',
             '${OpenIGTLink_LIBRARIES}': r'igtl', 'CLI11::CLI11': r'CLI/', 'PNG::PNG': r'^png\.h$'}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.M)


def with_values(text):
    """Replaces each variable that the text sets by its longest value: the build for the browser has shorter ones."""
    values = {}
    for name, value in re.findall(r'\bset\((\w+)\s+([^()"]*)\)', text):
        values[name] = max(values.get(name, ''), value, key=len)
    return re.sub(r'\$\{(\w+)\}', lambda variable: values.get(variable[1], variable[0]), text)


def targets():
    """[name] folder, sources, rooms, third-party libraries"""
    found = {}
    for folder in ROOMS + ('app/view',):
        text = with_values(re.sub(r'#.*', '', (ROOT / folder / 'CMakeLists.txt').read_text()))
        for match in re.finditer(r'trocar_room\((\w+)\b([^()]*)\)', text):
            words, part, lists = match[2].split(), None, {}
            for word in words:
                if word in ('SOURCES', 'ROOMS', 'PRIVATE', 'PUBLIC'):
                    part = word
                else:
                    lists.setdefault(part, []).append(word)
            found[match[1]] = (ROOT / folder, lists.get('SOURCES', []), lists.get('ROOMS', []),
                               lists.get('PRIVATE', []) + lists.get('PUBLIC', []))
    return found


def reachable(name, all_targets):
    seen, waiting = set(), [name]
    while waiting:
        target = waiting.pop()
        if target not in seen:
            seen.add(target)
            waiting += all_targets[target][2]
    return seen


def owners(all_targets):
    """[header or source, relative to the root] the target that it belongs to: that of its .cpp, or of its folder"""
    by_file, by_folder = {}, {}
    for name, (folder, sources, _, _) in all_targets.items():
        for source in sources:
            if '$' not in source:
                path = (folder / source).relative_to(ROOT)
                by_file[str(path.with_suffix(''))] = name
                by_folder.setdefault(str(path.parent), set()).add(name)
    return by_file, by_folder


def main():
    all_targets = targets()
    by_file, by_folder = owners(all_targets)
    findings = []
    for name, (folder, sources, _, libraries) in all_targets.items():
        allowed, used = reachable(name, all_targets), set()
        files = [folder / source for source in sources if '$' not in source]
        files += [file.with_suffix('.hpp') for file in files if file.with_suffix('.hpp').exists()]
        folders = {str(file.parent.relative_to(ROOT)) for file in files}
        files += [header for at in folders if by_folder.get(at) == {name} for header in (ROOT / at).glob('*.hpp')]
        for file in sorted(set(files)):
            text = file.read_text()
            for header in INCLUDE.findall(text):
                for library, pattern in LIBRARIES.items():
                    if re.match(pattern, header):
                        used.add(library)
                        if not any(linked.startswith(library) for linked in libraries):
                            findings.append(f'{file.relative_to(ROOT)}: includes {header}, but {name} does not link {library}')
                stem = str(Path(header).with_suffix(''))
                owner = {by_file[stem]} if stem in by_file else by_folder.get(str(Path(header).parent), set())
                if owner and not owner & allowed:
                    findings.append(f'{file.relative_to(ROOT)}: includes {header}, but {name} does not link {sorted(owner)[0]}')
        for library in LIBRARIES:
            if library not in used and any(linked.startswith(library) for linked in libraries) and library != 'glm::glm':
                findings.append(f'{name} links {library}, but no file of it includes its headers')
    for finding in sorted(set(findings)):
        print(finding)
    print(f'{len(all_targets)} libraries, {len(set(findings))} findings')
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main())
