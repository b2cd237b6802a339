#!/usr/bin/env bash
# GASNet-EX from its public repository, outside the tree, with its conduits for one node (smp) and for UDP.
#
#   scripts/build_gasnet.sh VERSION DIR     e.g. 2025.8.0 /tmp/gasnet: sources in DIR/source-VERSION, installed in DIR/VERSION
#
# Takes minutes. To tune it, and to try its driver:
#   export PKG_CONFIG_PATH=DIR/VERSION/lib/pkgconfig PATH=DIR/VERSION/bin:$PATH
#   stripline-tune gasnet --accept-untried
#   build/release/bin/real_targets_test --gtest_filter='OfItsRepository/*'
set -euo pipefail
source "$(dirname "$0")/common.sh"
[ $# -eq 2 ] || { sed -n '2,/^set -/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
version=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
case $folder/ in
  "$repository"/*) echo "build_gasnet.sh: '$folder' is within the tree; name another folder" >&2 && exit 2 ;;
esac
require_packages build-essential git autoconf automake perl pkg-config
source=$folder/source-$version
if [ ! -d "$source" ]; then
  # Releases of GASNet-EX are tagged gex-VERSION; older ones gasnet-VERSION.
  for tag in "gex-$version" "gasnet-$version" ""; do
    [ -n "$tag" ] || { echo "build_gasnet.sh: the repository has no version $version" >&2 && exit 1; }
    git clone --quiet --depth 1 --branch "$tag" https://github.com/BerkeleyLab/gasnet "$source" && break
  done
fi
cd "$source"
[ -x configure ] || ./Bootstrap -l
mkdir -p build
cd build
# Without the conduits that need networks or MPI, and with GASNET_PAR alone of its threading modes.
../configure --prefix="$folder/$version" --enable-smp --enable-udp --enable-pshm --disable-mpi --disable-mpi-compat \
  --disable-ibv --disable-ofi --disable-ucx --disable-seq --disable-parsync
make -j "$(nproc)"
make install
PKG_CONFIG_PATH=$folder/$version/lib/pkgconfig pkg-config --modversion gasnet-smp-par gasnet-udp-par
