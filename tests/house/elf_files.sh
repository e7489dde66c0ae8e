#!/usr/bin/env bash
# elf_files.sh BUILD_FOLDER: checks every ELF file of a build folder, and every one that it installs.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
shipped=(--expect trocar)
parts=(program)
for module in "$build"/python/trocar/_trocar*.so; do
  [ -e "$module" ] && shipped+=(--expect "$(basename "$module")") && parts+=(python)
done
[ -e "$build/app/trocar-sweep-mpi" ] && shipped+=(--expect trocar-sweep-mpi) && parts+=(mpi)
echo "build folder:"
tests/check/elf_scan.py --hardened "${shipped[@]}" "$build"
for part in "${parts[@]}"; do cmake --install "$build" --component "$part" --prefix "$work/installed" >"$work/log"; done
echo "installed:"
tests/check/elf_scan.py --hardened "${shipped[@]}" "$work/installed"
