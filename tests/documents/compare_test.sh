#!/bin/bash
# compare_test.sh SCRIPT STAND_IN EXPECTED: the commands that scripts/compare.py runs for each comparison, and its
# tables, with a stand-in for all programs, are those of EXPECTED. With --write, EXPECTED is written.
set -euo pipefail
script=$1 stand_in=$2 expected=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{scripts,bin,path,bale/src/bale_classic/convey,recordings}
cd "$work"
cp "$script" scripts/compare.py
printf 'require_packages() { :; }\n' >scripts/common.sh
touch bale/src/bale_classic/convey/convey.h recordings/{tcp,cloud-ethernet,opteron-vapi}.jsonl.zst
for name in '' -run -bench -worker -compare -injection -neighbours -neighbours-report -irregular {-collectives,-halo,-spmv}{,-mpi}; do
  ln -s "$stand_in" "bin/stripline$name"
done
for name in plan_strip_bench oshcc osh_single_accesses osh_injection; do ln -s "$stand_in" "bin/$name"; done
mkdir -p build/openshmem/{Kernels,ISx,openshmem-npbs}
touch build/openshmem/{Kernels/stencil,Kernels/transpose,Kernels/p2p,ISx/strong,openshmem-npbs/is.{A.2,A.4,W.4}}
mkdir -p sandia/bin
for name in oshcc oshrun; do ln -s "$stand_in" "sandia/bin/$name"; done
for name in mpirun oshrun autoreconf make mpicc mpicxx oshcc oshc++; do ln -s "$stand_in" "path/$name"; done
# As many processors as a comparison asks for, whatever this host has.
mkdir host
printf 'import os\nos.sched_getaffinity = lambda pid: set(range(int(os.environ.get("PROCESSORS", "4"))))\n' >host/sitecustomize.py
export PATH=$work/path:$PATH STAND_IN_LOG=$work/log PYTHONPATH=$work/host

# compare NAME ARGUMENT...: what it ran and what it printed, and its exit status where a criterion is not met.
compare() {
  local status=0
  : >log
  python3 -B scripts/compare.py "$@" >out 2>errors || status=$?
  [ "$status" = 0 ] || [ "$status" = 3 ] || { cat errors && return 1; }
  echo "# $*: $status"
  echo
  sed -Ee '/^mpirun|--oversubscribe/s/ --allow-run-as-root//' -e "s|$work|WORK|g" -e 's/^/    /' log
  echo
  cat out
  echo
}
{
  compare collectives . 2 tcp shm
  compare collectives_by_model shm model.json . 1
  compare halos . 2 10
  compare spmv shm model.json . 2 12 4096 one.mtx
  compare conveyors shm bale . 2 3 1024 2
  compare indirect "" . "" 2
  compare solvers model.json . a-network 16
  compare updates "" . "" 1 128
  compare shared_updates model.json . 2
  compare injection . tcp 2 10
  compare injection . net 2 10
  compare fine "" . 2
  compare strides "" .
  compare loads . 2
  compare openshmem tcp "" . "" 2 3
  compare openshmem shm model.json . sandia 1 3
  compare single_accesses tcp model.json . 2 1000
  compare unmodified shm model.json . 1
  compare emulated models . 1000 4
  compare region_choices "" . opteron-vapi 2
  compare neighbours . kept 1 3
  compare neighbours . kept 1 3 node # which is kept
  compare clocks . 2 opteron-vapi | grep -v '^    '
  compare benches . . 2 plan_strip_bench
  compare replays bin/stripline recordings 1 2
} >printed
if [ "${4:-}" = --write ]; then
  cp printed "$expected"
fi
diff "$expected" printed

# A job that fails is named, and what others printed is shown. Its own last line may be cut off.
rm path/mpirun
printf '#!/bin/sh\necho "{\\"system\\": \\"mp"\nexit 7\n' >path/mpirun
chmod +x path/mpirun
if python3 -B scripts/compare.py halos . 1 10 >out 2>errors; then
  echo "a job that failed is not seen by the exit status" && exit 1
fi
grep -q "mpirun .*stripline-halo-mpi 10' ended with status 7, after 0 lines" errors
grep -q '^| 2 | 16^3 | [0-9.]* | [0-9.]* | [0-9.]* | [0-9.]* | - | - |' out
printf '#!/bin/sh\necho "{\\"system\\": \\"mp"\n' >path/mpirun
if python3 -B scripts/compare.py halos . 1 10 >out 2>errors; then
  echo "a line that is not JSON is not seen by the exit status" && exit 1
fi
grep -q "mpirun .*stripline-halo-mpi 10' printed a line that is not JSON, after 0 lines" errors
printf '#!/bin/sh\nexit 7\n' >path/mpirun
if python3 -B scripts/compare.py neighbours . other 1 1 2>errors; then
  echo "a launch that failed is not seen by the exit status" && exit 1
fi
[ -z "$(ls other)" ] || { echo "a launch that failed is kept" && exit 1; }
# One variant of a kernel is there when it fails, and the other is not.
mkdir -p failing/bin
ln -s "$stand_in" failing/bin/stripline-worker
printf '#!/bin/sh\necho "{\\"variant\\": \\"naive\\", \\"verified\\": true}"\nexit 6\n' >failing/bin/stripline-bench
chmod +x failing/bin/stripline-bench
if python3 -B scripts/compare.py indirect "" failing "" 2 >out 2>errors; then
  echo "a kernel that failed is not seen by the exit status" && exit 1
fi
grep -q "ended with status 6, after 1 lines" errors
grep -q "struct_reads with 2 ranks failed" errors
if PROCESSORS=2 python3 -B scripts/compare.py injection . >out 2>errors; then
  echo "threads are compared on too few processors" && exit 1
fi
grep -q "three processors, and there are 2" errors
for wrong in nothing "halos . many" "halos . 0" "clocks . 2" "updates model . network 3" "updates model . network 0" \
  "halos nowhere" "openshmem tcp model . nowhere" "spmv udp model" "collectives . 1 udp" "indirect model nowhere" \
  "clocks nowhere 1 opteron-vapi" "neighbours nowhere other" "replays bin/stripline bin" "replays path/mpirun recordings"; do
  # shellcheck disable=SC2086
  if python3 -B scripts/compare.py $wrong >out 2>errors; then
    echo "'$wrong' is accepted" && exit 1
  fi
  [ -s errors ]
  ! grep Traceback errors || { echo "'$wrong' is answered by a trace" && exit 1; }
done
