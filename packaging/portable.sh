#!/usr/bin/env bash
# Makes a folder of programs that runs on other x86-64 Linux distributions:  packaging/portable.sh OUT PROGRAM...
#   OUT/bin           the programs
#   OUT/lib           the libraries that they need, except glibc and OpenGL, which belong to the other machine
#   OUT/lib/fallback  the C++ runtime, used where the machine has none or an older one: a graphics driver of the machine
#                     may need a newer one than ours
#   OUT/run           `OUT/run PROGRAM [arguments]` starts a program with these libraries
# Ends with status 1 when a file needs a newer glibc than kNewest.
set -euo pipefail
kNewest=2.36
[ $# -ge 2 ] || { echo "usage: packaging/portable.sh OUT PROGRAM..." >&2; exit 2; }
out=$1
shift
mkdir -p "$out/bin" "$out/lib/fallback"

system='^(ld-linux.*|lib(c|m|dl|pthread|rt|GL|EGL|GLX|GLdispatch|OpenGL))\.so'
for program in "$@"; do
  install -m 755 "$program" "$out/bin/"
  ldd "$program" | awk '$3 ~ /^\// {print $3}' | while read -r library; do
    name=$(basename "$library")
    [[ $name =~ $system ]] && continue
    case "$name" in
      libstdc++.so* | libgcc_s.so*) install -m 644 "$library" "$out/lib/fallback/$name" ;;
      *) install -m 644 "$library" "$out/lib/$name" ;;
    esac
  done
done

cat >"$out/run" <<'RUN'
#!/bin/sh
# run PROGRAM [arguments]: starts a program of this folder with the libraries beside it.
here=$(cd "$(dirname "$0")" && pwd)
program=$here/bin/$1
shift
TROCAR_DATA=${TROCAR_DATA:-$here/data}
before=$LD_LIBRARY_PATH
LD_LIBRARY_PATH=$here/lib${before:+:$before}
TROCAR_LIBRARIES_BEFORE=$before  # for programs of the machine that this one starts
export TROCAR_DATA LD_LIBRARY_PATH TROCAR_LIBRARIES_BEFORE
"$program" --version >/dev/null 2>&1 || LD_LIBRARY_PATH=$here/lib/fallback:$LD_LIBRARY_PATH
exec "$program" "$@"
RUN
chmod 755 "$out/run"

needed=$(find "$out/bin" "$out/lib" -type f -exec objdump -T {} + 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
echo "$out: $(du -sh --apparent-size "$out" | cut -f 1), newest glibc symbol $needed"
if [ "$(printf 'GLIBC_%s\n%s\n' "$kNewest" "$needed" | sort -V | tail -n 1)" != "GLIBC_$kNewest" ]; then
  echo "$out needs $needed, newer than glibc $kNewest; build it on an older distribution" >&2
  exit 1
fi
