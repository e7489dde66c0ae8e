#!/usr/bin/env bash
# Makes a wheel of the Python module for Debian's python3:  packaging/wheel.sh BUILD_FOLDER OUT_FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:?usage: packaging/wheel.sh BUILD_FOLDER OUT_FOLDER}")
out=${2:?usage: packaging/wheel.sh BUILD_FOLDER OUT_FOLDER}
version=$(sed -n 's/^project(trocar VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
tag=$(/usr/bin/python3 -c 'import sys; print(f"cp{sys.version_info[0]}{sys.version_info[1]}")')
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

mkdir -p "$out" "$folder/trocar-$version.dist-info"
cp -r "$build/python/trocar" "$folder/"
rm -rf "$folder/trocar/__pycache__"
strip --strip-unneeded "$folder"/trocar/_trocar*.so
cat >"$folder/trocar-$version.dist-info/METADATA" <<METADATA
Metadata-Version: 2.1
Name: trocar
Version: $version
Summary: Touch queries, soft tissue and laparoscopic sessions
License: BSD-3-Clause
Requires-Python: ==3.11.*
Requires-Dist: numpy
METADATA
cat >"$folder/trocar-$version.dist-info/WHEEL" <<WHEEL
Wheel-Version: 1.0
Generator: trocar
Root-Is-Purelib: false
Tag: $tag-$tag-linux_x86_64
WHEEL
cp LICENSE "$folder/trocar-$version.dist-info/"
/usr/bin/python3 -m wheel pack --dest-dir "$out" "$folder"
