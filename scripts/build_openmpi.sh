#!/usr/bin/env bash
# Another version of Open MPI than Debian's, from its public repository, outside the tree.
#
#   scripts/build_openmpi.sh VERSION DIR     e.g. 5.0.7 /tmp/openmpi: sources in DIR/source-VERSION, installed in DIR/VERSION
#
# Takes tens of minutes. To tune it, and to validate there what was converted for it:
#   PATH=DIR/VERSION/bin:$PATH stripline-tune try openmpi --accept-untried
#   PATH=DIR/VERSION/bin:$PATH stripline-tune openmpi --accept-untried
#   PATH=DIR/VERSION/bin:$PATH stripline-tune export verify FILE --accept-untried
set -euo pipefail
source "$(dirname "$0")/common.sh"
[ $# -eq 2 ] || { sed -n '2,/^set -/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
version=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
case $folder/ in
  "$repository"/*) echo "build_openmpi.sh: '$folder' is within the tree; name another folder" >&2 && exit 2 ;;
esac
require_packages build-essential git autoconf automake libtool flex perl python3
source=$folder/source-$version
[ -d "$source" ] ||
  git clone --quiet --depth 1 --branch "v$version" --recurse-submodules --shallow-submodules https://github.com/open-mpi/ompi "$source"
cd "$source"
[ -x configure ] || ./autogen.pl
./configure --prefix="$folder/$version" --disable-mpi-fortran --disable-oshmem --disable-sphinx --without-ucx --without-ofi \
  --with-libevent=internal --with-hwloc=internal --with-pmix=internal
make -j "$(nproc)" install
"$folder/$version/bin/ompi_info" --parsable | grep ompi:version:full
