#!/usr/bin/env bash
# Sandia OpenSHMEM from its public repository, outside the tree, over the libfabric of the system: what scripts/compare.py
# openshmem compares with.
#
#   scripts/build_sos.sh DIR     sources in DIR/source-1.5.3, installed in DIR/1.5.3
#
# Takes minutes. Then, over TCP without a model, and within the node:
#   scripts/compare.py openshmem tcp "" build/release DIR/1.5.3
#   scripts/compare.py openshmem shm "" build/release DIR/1.5.3
set -euo pipefail
source "$(dirname "$0")/common.sh"
[ $# -eq 1 ] || { sed -n '2,/^set -/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
# The release that figures are of, and the commit that its tag names, which is a checksum of all its files and of its submodule's.
version=1.5.3
commit=45e6e7eb1a9b099a418237a9e677eb6603222c84
mkdir -p "$1"
folder=$(cd "$1" && pwd)
case $folder/ in
  "$repository"/*) echo "build_sos.sh: '$folder' is within the tree; name another folder" >&2 && exit 2 ;;
esac
# Of mpich it is the launcher: Open MPI's does not speak PMI-1.
require_packages build-essential git autoconf automake libtool m4 perl pkg-config libfabric-dev mpich
source=$folder/source-$version
[ -d "$source" ] ||
  git clone --quiet --depth 1 --branch "v$version" --recurse-submodules --shallow-submodules https://github.com/Sandia-OpenSHMEM/SOS "$source"
cd "$source"
[ "$(git rev-parse HEAD)" = "$commit" ] && git submodule status | grep -q '^ ' || {
  echo "build_sos.sh: '$source' is not $commit, which release $version is; remove the folder, and run this script again" >&2
  exit 1
}
[ -x configure ] || ./autogen.sh
# Progress as tcp;ofi_rxm and shm make it, in the calls of a PE, and keys and addresses that shm, too, has.
./configure --prefix="$folder/$version" --with-ofi --enable-pmi-simple --with-oshrun-launcher=mpiexec.hydra \
  --enable-ofi-mr=basic --enable-ofi-manual-progress --enable-manual-progress --disable-fortran --disable-cxx --with-hwloc=no
make -j "$(nproc)" install
PKG_CONFIG_PATH=$folder/$version/lib/pkgconfig pkg-config --modversion sandia-openshmem
