#!/usr/bin/env bash
# core_alone.sh PROGRAM: runs the program of the core alone and looks at the libraries that it links.
set -euo pipefail
program=$1
if found=$(ldd "$program" | grep -iE 'hdf5|vtk|libGL|libEGL|glfw|OpenIGTLink|spnav|X11|imgui'); then
  echo "the core of sim/ links:"
  echo "$found"
  exit 1
fi
"$program"
