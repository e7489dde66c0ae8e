#!/usr/bin/env bash
# wheel_test.sh BUILD_FOLDER: makes the wheel, installs it in a new virtual environment without the network, and runs the
# tests of the module there.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
packaging/wheel.sh "$build" "$folder" >/dev/null
ls -l "$folder"/*.whl
# The module must not share symbols with other libraries of the process, which may contain an OpenGL loader of their own.
exported=$(nm -DC --defined-only "$build"/python/trocar/_trocar*.so | awk '{$1 = $2 = ""; print}' | grep -E '^ *(trocar::|glad)' || true)
[ -z "$exported" ] || { echo "the module exports symbols of ours:"; echo "$exported" | head; exit 1; }
/usr/bin/python3 -m venv --system-site-packages "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-index "$folder"/*.whl
tests/check/elf_scan.py --hardened --expect "$(basename "$build"/python/trocar/_trocar*.so)" \
  "$folder"/venv/lib/python3*/site-packages/trocar
unset PYTHONPATH
"$folder/venv/bin/python" -c 'import trocar; print(trocar.__file__)' | grep -F "$folder/venv"
"$folder/venv/bin/python" tests/python/module_test.py "$build/app/trocar"
