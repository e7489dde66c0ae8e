#!/usr/bin/env bash
# Makes the folder that a file server offers as the browser's trainer:
#   web/make_folder.sh PROGRAM_FOLDER OUT      (./run web)
# PROGRAM_FOLDER contains trocar_program.js, .wasm and .data, and LICENSES-OF-LIBRARIES.txt. OUT is replaced if it is empty or such a folder. Prints the
# folder's size, compressed as a server sends it, and fails above 12 MB.   Tested in tests/web/folder_test.mjs
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 2 ] || { echo "usage: web/make_folder.sh PROGRAM_FOLDER OUT" >&2; exit 2; }
program=$1
out=$2
most_bytes=12000000

for part in trocar_program.{js,wasm,data} LICENSES-OF-LIBRARIES.txt; do
  [ -f "$program/$part" ] || { echo "$program/$part does not exist; build the target trocar_program" >&2; exit 2; }
done
if [ -e "$out" ] && [ ! -f "$out/sw.js" ] && [ -n "$(ls -A -- "$out")" ]; then
  echo "$out contains other files; name a new folder or remove it" >&2
  exit 2
fi
rm -rf -- "$out"
mkdir -p -- "$out/pictures"
cp web/page/*.html web/page/*.css web/page/*.js web/page/*.svg web/page/*.webmanifest "$out/"
cp "$program"/trocar_program.{js,wasm,data} "$program/LICENSES-OF-LIBRARIES.txt" "$out/"
cp data/thumbnails/*.png "$out/pictures/"
cp LICENSE "$out/LICENSE.txt"
chmod -R u=rwX,go=rX -- "$out"

# The service worker's list: every file with its hash in the form of subresource integrity.
list=$(/usr/bin/python3 - "$out" <<'PYTHON'
import base64, hashlib, pathlib, sys
folder = pathlib.Path(sys.argv[1])
for file in sorted(path for path in folder.rglob('*') if path.is_file()):
    digest = base64.b64encode(hashlib.sha256(file.read_bytes()).digest()).decode()
    print(f'  ["{file.relative_to(folder).as_posix()}", "sha256-{digest}"],')
PYTHON
)
build=$(printf '%s' "$list" | sha256sum | cut -c 1-16)
while IFS= read -r line; do
  if [ "$line" = "@FILES@" ]; then printf '%s\n' "$list"; else printf '%s\n' "${line//@BUILD@/$build}"; fi
done <web/page/sw.js.in >"$out/sw.js"

bytes=0
while read -r file; do
  bytes=$((bytes + $(gzip -9 -c "$file" | wc -c)))
done < <(find "$out" -type f)
awk -v out="$out" -v bytes="$bytes" 'BEGIN { printf "%s: %.2f MB compressed\n", out, bytes / 1e6 }'
if [ "$bytes" -gt "$most_bytes" ]; then
  echo "The folder is larger than 12 MB compressed." >&2
  exit 1
fi
