#!/usr/bin/env bash
# Makes a folder with the program, its libraries and its data, for Linux distributions without Trocar's packages:
#   packaging/program_folder.sh BUILD_FOLDER OUT      (./run portable OUT)
# OUT/trocar starts the program, from any folder and without installation. glibc, OpenGL and, for the window, the X or
# Wayland client libraries come from the machine.   Tested in tests/app/program_folder_test.sh
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 2 ] || { echo "usage: packaging/program_folder.sh BUILD_FOLDER OUT" >&2; exit 2; }
build=$1
out=$2
[ ! -e "$out" ] || { echo "$out exists; name a new folder or remove it" >&2; exit 2; }

mkdir -p "$out"
cp -r data "$out/"
fonts=/usr/share/fonts/truetype/dejavu
mkdir -p "$out/data/fonts"
cp "$fonts/DejaVuSans.ttf" "$fonts/DejaVuSansMono.ttf" "$out/data/fonts/"
cp /usr/share/doc/fonts-dejavu-core/copyright "$out/data/fonts/LICENSE"
cp LICENSE CHANGELOG.md "$out/"
cp docs/user-guide.md "$out/README.md"
"$build/app/trocar" --manual >"$out/trocar.1"
cat >"$out/trocar" <<'TROCAR'
#!/bin/sh
# trocar COMMAND [arguments]: starts the program of this folder.
exec "$(dirname "$(readlink -f "$0")")/run" trocar "$@"
TROCAR
chmod 755 "$out/trocar"
packaging/portable.sh "$out" "$build/app/trocar"
packaging/licences.sh libcli11-dev libcpp-httplib-dev libeigen3-dev libglm-dev libimgui-dev libsoci-dev libtoml11-dev \
  nlohmann-json3-dev -- "$out/lib" >"$out/LICENSES-OF-LIBRARIES"
find "$out/bin" "$out/lib" -type f -exec strip --strip-unneeded {} +
