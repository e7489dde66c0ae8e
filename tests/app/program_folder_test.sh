#!/usr/bin/env bash
# program_folder_test.sh BUILD_FOLDER: makes the folder for other distributions and uses the program in it, through a
# link, from another folder and without the environment of the caller.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
packaging/program_folder.sh "$build" "$work/folder" | tee "$work/made"
grep -q 'newest glibc symbol GLIBC_2\.[0-9]*$' "$work/made"
if packaging/program_folder.sh "$build" "$work/folder" 2>/dev/null; then echo "an existing folder must be refused"; exit 1; fi

tests/check/elf_scan.py "$work/folder"
tests/check/elf_scan.py --hardened --expect trocar "$work/folder/bin"

mv "$work/folder" "$work/moved"
ln -s "$work/moved/trocar" "$work/trocar"
mkdir "$work/elsewhere"
cd "$work/elsewhere"
trocar() { env -i PATH=/usr/bin:/bin "$work/trocar" "$@"; }
# Every library is the folder's own, except those of the system.
env -i PATH=/usr/bin:/bin LD_LIBRARY_PATH="$work/moved/lib" ldd "$work/moved/bin/trocar" >libraries
if grep 'not found' libraries; then echo "a library is missing"; exit 1; fi
if awk '$3 ~ /^\// {print $3}' libraries | grep -v "^$work/moved/lib/" |
  grep -vE '/(ld-linux.*|lib(c|m|dl|pthread|rt|GL|EGL|GLX|GLdispatch|OpenGL|stdc\+\+|gcc_s))\.so'; then
  echo "a library of this machine is used"
  exit 1
fi
# The data of the product are complete.
for file in organs/liver.obj scenes/tasks/touch_targets.toml scenes/procedures/cholecystectomy.toml curricula/basic.toml \
  fonts/DejaVuSans.ttf fonts/DejaVuSansMono.ttf fonts/LICENSE; do
  test -s "$work/moved/data/$file" || { echo "data/$file is missing"; exit 1; }
done
# Every library's licence is there, and the full texts that it names.
for part in doc/libhdf5-103-1/copyright doc/libimgui-dev/copyright common-licenses/Apache-2.0; do
  grep -q "^======== /usr/share/$part\$" "$work/moved/LICENSES-OF-LIBRARIES" || { echo "$part is missing"; exit 1; }
done
trocar --version
trocar doctor >doctor.txt
grep -q '^scan *works' doctor.txt
trocar demo --headless --frames 5 --backend scan --out demo
trocar replay demo/session.h5
test -s demo/report.html
status=0
trocar demo --frames -1 2>/dev/null || status=$?
[ "$status" -eq 2 ] || { echo "wrong usage must end with status 2, not $status"; exit 1; }
