#!/usr/bin/env bash
# Public OpenSHMEM programs, unmodified, on the runtime: which of them build and end well.
#
#   scripts/check_openshmem.sh DIR [PES...]
#
# DIR has clones of the suites that are to be run, by the names of their repositories: tests-sos, openshmem-examples,
# tests-uh and openshmem-npbs (openshmem-org), ISx, Kernels (ParRes), osu-micro-benchmarks (forresti), bale (jdevinney); those that
# are missing are named and left out. They are
# built by oshcc and oshc++ of the release build into build/openshmem, and run with PES PEs (default: 2 3 4 5) over mapped
# memory, tcp between PEs of this host, the provider shm and an emulated network. Prints a table, and names what
# did not end as it should within the limit (OPENSHMEM_LIMIT, default 120 seconds); what it printed is in
# build/openshmem/logs. What an emulated network has no memory for (ISx, osu_oshm_put_mr) is left out there. The exit status is 1
# if there is any that did not end so, or something could not be built. $OPENSHMEM_PATHS: names of paths, to leave others out.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$repository"
suites=$(cd "$1" && pwd)
shift
pes=("$@")
[ $# -gt 0 ] || pes=(2 3 4 5)
limit=${OPENSHMEM_LIMIT:-120}
paths=(${OPENSHMEM_PATHS:-mapped tcp shm emulated})
wrong=0 # programs that were not built, and runs that did not end as they should

# What ends otherwise than with 0: "SUITE NAME" as it says, "SUITE NAME PATH" on that path alone. On a virtual clock
# shmem_global_exit(0) ends so (docs/results/openshmem.md).
declare -A ends_with=(["openshmem-examples global_exit"]=99 ["tests-sos global_exit emulated"]=5)

# What needs a larger heap than PEs of an emulated network have, which allocates all memory at once: left out there.
declare -A needs_large_heap=(["ISx strong"]=1 ["ISx weak"]=1 ["osu-micro-benchmarks osu_oshm_put_mr"]=1)

configure_and_build release stripline_shmem stripline-run
bin=$repository/build/release/bin
folder=$repository/build/openshmem
mkdir -p "$folder/logs"

# Programs of all suites: "SUITE NAME|FIXED PES or -|ARGUMENTS".
programs=()

# add SUITE NAME PES ARGUMENTS COMPILER FLAGS-AND-SOURCES...
add() {
  local suite=$1 name=$2 fixed=$3 arguments=$4 compiler=$5
  shift 5
  mkdir -p "$folder/$suite"
  if ! "$bin/$compiler" -O1 "$@" -o "$folder/$suite/$name" >"$folder/logs/$suite.$name.build" 2>&1; then
    echo "not built: $suite $name (build/openshmem/logs/$suite.$name.build)" >&2
    wrong=$((wrong + 1))
    return 0
  fi
  programs+=("$suite $name|$fixed|$arguments")
}

add_tests_sos() {
  local tests=$suites/tests-sos/test source name
  for source in "$tests"/unit/*.c "$tests"/unit/*.cpp; do
    name=$(basename "${source%.*}")
    local flags=(-I"$tests/include" -DENABLE_DEPRECATED_TESTS) compiler=oshcc
    case $source in *.cpp) compiler=oshc++ ;; esac
    case $name in
      mt_lock) continue ;;
      mt_lock_test) flags+=("$tests/unit/mt_lock.c" -DENABLE_THREADS -pthread) ;;
      mt_* | thread*) flags+=(-DENABLE_THREADS -pthread) ;;
    esac
    add tests-sos "$name" - "" "$compiler" "${flags[@]}" "$source"
  done
  add tests-sos rma_coverage_pshmem - "" oshcc -I"$tests/include" -DTEST_PSHMEM "$tests/unit/rma_coverage.c"
  add tests-sos query_thread_funneled - "" oshcc -I"$tests/include" -DENABLE_THREADS "$tests/unit/query_thread.c"
}

add_openshmem_examples() {
  local source
  for source in "$suites"/openshmem-examples/c/*.c; do
    # It puts to a null pointer, to see what comes of that.
    [ "$(basename "$source")" != nullput.c ] || continue
    add openshmem-examples "$(basename "$source" .c)" - "" oshcc "$source"
  done
  for source in "$suites"/openshmem-examples/c++/*.cxx; do
    add openshmem-examples "cxx_$(basename "$source" .cxx)" - "" oshc++ "$source"
  done
}

add_isx() {
  local folder_of_isx=$suites/ISx/SHMEM log=$folder/isx
  add ISx strong - "65536 $log.strong" oshcc -std=c99 -DSCALING_OPTION=1 "$folder_of_isx"/*.c
  add ISx weak - "16384 $log.weak" oshcc -std=c99 -DSCALING_OPTION=2 "$folder_of_isx"/*.c
}

add_kernels() {
  local kernels=$suites/Kernels
  local flags=(-DRESTRICT_KEYWORD -DRADIUS=2 -DDOUBLE=1 -DSTAR=1 -DVERBOSE=0 -DLOOPGEN=0 '-DPRKVERSION="2"'
    -I"$kernels/include" "$kernels/common/SHMEM_bail_out.c" "$kernels/common/wtime.c" -lm)
  add Kernels stencil - "5 240" oshcc "$kernels/SHMEM/Stencil/stencil.c" "${flags[@]}"
  add Kernels p2p - "5 120 120" oshcc "$kernels/SHMEM/Synch_p2p/p2p.c" "${flags[@]}"
  add Kernels transpose - "3 240" oshcc "$kernels/SHMEM/Transpose/transpose.c" "${flags[@]}"
}

add_osu() {
  local osu=$suites/osu-micro-benchmarks/openshmem source name fixed arguments
  for source in "$osu"/osu_oshm_*.c; do
    name=$(basename "$source" .c)
    case $name in
      *_put | *_get | *_put_mr | *_atomics) fixed=2 arguments=heap ;;
      *) fixed=- arguments= ;;
    esac
    add osu-micro-benchmarks "$name" "$fixed" "$arguments" oshcc -I"$osu" "$source" "$osu/osu_common.c"
  done
}

# Its part in C.
add_tests_uh() {
  local source
  for source in "$suites"/tests-uh/feature_tests/C/*.c; do
    add tests-uh "$(basename "$source" .c)" - "" oshcc -I"$(dirname "$source")" "$source" -lm
  done
}

# NAS IS, of classes and for numbers of PEs that are compiled in; it includes an mpi.h of which it uses nothing. Those for 16
# and 64 are for scripts/compare.py emulated.
add_npbs() {
  local sources=$folder/npbs.sources built
  rm -rf "$sources"
  cp -r "$suites/openshmem-npbs/C" "$sources"
  mkdir -p "$sources/bin" "$folder/openshmem-npbs"
  cp "$sources/config/NAS.samples/make.def.uhosh" "$sources/config/make.def"
  : >"$sources/common/mpi.h"
  for built in S.2 S.4 A.2 A.4 W.16 W.64; do
    rm -f "$sources"/IS/*.o
    if ! PATH="$bin:$PATH" make -C "$sources/IS" CLASS="${built%.*}" NPROCS="${built#*.}" CMPI_INC=-I../common \
      >"$folder/logs/openshmem-npbs.is.$built.build" 2>&1; then
      echo "not built: openshmem-npbs is.$built (build/openshmem/logs/openshmem-npbs.is.$built.build)" >&2
      wrong=$((wrong + 1))
      continue
    fi
    cp "$sources/bin/is.$built" "$folder/openshmem-npbs/"
    programs+=("openshmem-npbs is.$built|${built#*.}|")
  done
}

# Its applications, each of which does the same by several methods, conveyors among them; by its own script. Their
# defaults, five million accesses or a million rows of each PE, are for networks of supercomputers; these numbers are of the
# order of those in its own tests.
add_bale() {
  require_packages autoconf automake pkg-config
  local sources=$folder/bale.sources program arguments
  rm -rf "$sources" "$folder"/bale.build "$folder"/bale.installed
  cp -r "$suites/bale/src/bale_classic" "$sources"
  if ! (cd "$sources" && export PATH="$bin:$PATH" CC=oshcc &&
    for package in libgetput exstack convey spmat std_options apps; do (cd "$package" && autoreconf -fi) || exit 1; done &&
    python3 make_bale -s -j 2 -b "$folder/bale.build" -i "$folder/bale.installed" &&
    # That ends with 0 whatever fails; the applications come last.
    ls "$folder"/bale.installed/bin/*) >"$folder/logs/bale.build" 2>&1; then
    echo "not built: bale (build/openshmem/logs/bale.build)" >&2
    wrong=$((wrong + 1))
  fi
  mkdir -p "$folder/bale"
  for program in "$folder"/bale.installed/bin/*; do
    [ -x "$program" ] || continue
    cp "$program" "$folder/bale/"
    case $(basename "$program") in
      histo | ig) arguments="-n 10000 -T 1000" ;;
      randperm) arguments="-n 2500" ;;
      *) arguments="-n 1000 -z 4" ;;
    esac
    programs+=("bale $(basename "$program")|-|$arguments")
  done
}

for suite in "tests-sos add_tests_sos" "openshmem-examples add_openshmem_examples" "tests-uh add_tests_uh" "ISx add_isx" \
  "Kernels add_kernels" "osu-micro-benchmarks add_osu" "openshmem-npbs add_npbs" "bale add_bale"; do
  read -r name how <<<"$suite"
  if [ -d "$suites/$name" ]; then "$how"; else echo "left out: $name, which is not in $suites" >&2; fi
done

# run PATH-NAME PES OPTIONS...: a row for each suite.
run() {
  local path=$1 count=$2 entry suite name fixed arguments log status expected
  shift 2
  [[ " ${paths[*]} " = *" $path "* ]] || return 0
  local -A passed=() tried=() failed=()
  for entry in "${programs[@]}"; do
    IFS='|' read -r name fixed arguments <<<"$entry"
    read -r suite name <<<"$name"
    [ "$fixed" = - ] || [ "$fixed" = "$count" ] || continue
    [ "$path" != emulated ] || [ -z "${needs_large_heap[$suite $name]:-}" ] || continue
    log=$folder/logs/$suite.$name.$path.$count
    tried[$suite]=$((${tried[$suite]:-0} + 1))
    # shellcheck disable=SC2086
    # Most programs touch little of their heaps.
    status=0
    SHMEM_SYMMETRIC_SIZE=$heap timeout "$limit" "$bin/stripline-run" -n "$count" --bind none --overcommit "$@" -- \
      "$folder/$suite/$name" $arguments </dev/null >"$log" 2>&1 || status=$?
    # NAS programs end with 0 whatever they have found.
    if [ "$suite $status" = "openshmem-npbs 0" ] && ! grep -q ' SUCCESSFUL' "$log"; then status="0, with a wrong result"; fi
    expected=${ends_with[$suite $name $path]:-${ends_with[$suite $name]:-0}}
    if [ "$status" = "$expected" ]; then
      passed[$suite]=$((${passed[$suite]:-0} + 1))
    else
      failed[$suite]="${failed[$suite]:-} $name"
      wrong=$((wrong + 1))
    fi
  done
  for suite in $(printf '%s\n' "${!tried[@]}" | sort); do
    echo "| $suite | $path | $count | ${passed[$suite]:-0} of ${tried[$suite]} |${failed[$suite]:-} |"
  done
}

heap=1200M
echo "| suite | path | PEs | ended well | did not |"
echo "|---|---|---|---|---|"
for count in "${pes[@]}"; do
  run mapped "$count"
  run tcp "$count" --fabric tcp --same-node network
  run shm "$count" --fabric shm --same-node network
  heap=64M run emulated "$count" --fabric emulated:modern-rdma,compute=none --clock virtual
done
[ "$wrong" = 0 ] || {
  echo "$wrong did not end as they should, or were not built" >&2
  exit 1
}
