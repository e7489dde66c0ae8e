#!/usr/bin/env bash
# Prints the copyright notices and licences of Debian packages, for folders that contain code of theirs:
#   packaging/licences.sh PACKAGE... [-- LIBRARY_FOLDER]
# LIBRARY_FOLDER: also of the packages that own libraries with these file names.
# Tested in tests/app/program_folder_test.sh
set -euo pipefail
packages=()
while [ $# -gt 0 ] && [ "$1" != "--" ]; do
  packages+=("$1")
  shift
done
if [ $# -eq 2 ]; then
  while read -r library; do
    owner=$(dpkg -S "*/$(basename "$library")" 2>/dev/null | head -n 1) || continue
    packages+=("${owner%%:*}")
  done < <(find "$2" -type f)
fi
files=()
while read -r package; do
  file=/usr/share/doc/$package/copyright
  [ -f "$file" ] || { echo "$file does not exist; install $package" >&2; exit 2; }
  files+=("$file")
done < <(printf '%s\n' "${packages[@]}" | sort -u)
# The notices name the full texts of common licences by these files.
while read -r file; do
  [ -f "$file" ] && files+=("$file")
done < <(grep -oh '/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]' "${files[@]}" | sort -u)

echo "This folder contains code of the Debian packages below, under their licences."
for file in "${files[@]}"; do
  printf '\n\n======== %s\n\n' "$file"
  cat "$file"
done
