#!/usr/bin/env bash
# make_reference.sh FOLDER: the reference of the programming interface in FOLDER/html, by doxygen from the public headers.
# What is public and not documented is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
{
  cat docs/reference/Doxyfile
  echo "OUTPUT_DIRECTORY = \"$1\""
  echo "PROJECT_NUMBER = $(sed -n 's/^project(stripline VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)"
} | doxygen -
