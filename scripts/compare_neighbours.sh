#!/usr/bin/env bash
# The runtime beside bare libfabric, Open MPI and UCX:
#   scripts/compare_neighbours.sh [BUILD_DIR] [FOLDER] [LAUNCHES] [ROUNDS] [PATH...]
# A launch runs all of them in the same two processes, in rounds (stripline-neighbours). There are
# LAUNCHES of each kind, in turn: over TCP (network) and within the node (node), with the settings
# that Open MPI and UCX have by themselves, tuned by hand, and with Open MPI on top of UCX. FOLDER
# keeps what each measured; launches that are there already are not repeated. Then prints the
# tables.
set -euo pipefail
build=${1:-build/release}
folder=${2:-build/results/neighbours}
launches=${3:-6}
rounds=${4:-6}
shift $(($# < 4 ? $# : 4))
paths=("$@")
[ ${#paths[@]} -gt 0 ] || paths=(network node)
mkdir -p "$folder"

# start PATH KIND NUMBER: one launch.
start() {
  local path=$1 kind=$2 file=$folder/$1-$2-$3.jsonl
  [ -e "$file" ] && return 0
  local settings=() options=(--launch "$kind-$3" --rounds "$rounds")
  [ "$(id -u)" != 0 ] || settings+=(--allow-run-as-root)
  [ "$path" = network ] || options+=(--same-node)
  case $path-$kind in
    network-default | network-tuned)
      # One-sided operations over this transport need osc pt2pt; loopback is not used unless asked.
      settings+=(--mca pml ob1 --mca btl "tcp,self" --mca btl_tcp_if_include lo --mca osc pt2pt) ;;
    node-default) settings+=(--mca pml ob1 --mca btl "vader,self") ;;
    node-tuned) settings+=(--mca pml ob1 --mca btl "vader,self" --mca osc sm) ;;
    network-ucx) settings+=(--mca pml ucx --mca osc ucx --mca opal_common_ucx_tls any
        --mca opal_common_ucx_devices any -x "UCX_TLS=tcp,self" -x UCX_NET_DEVICES=lo) ;;
    node-ucx) settings+=(--mca pml ucx --mca osc ucx --mca opal_common_ucx_tls any
        --mca opal_common_ucx_devices any -x "UCX_TLS=posix,sysv,cma,self") ;;
  esac
  # 64 KiB and a header go without a rendezvous, more small puts into one message, larger pieces.
  case $path-$kind in
    network-tuned)
      settings+=(--mca osc_pt2pt_buffer_size 65536 --mca btl_tcp_eager_limit 135168
        --mca btl_tcp_rndv_eager_limit 135168 --mca btl_tcp_max_send_size 1048576
        --mca btl_tcp_endpoint_cache 131072
        -x UCX_TCP_TX_SEG_SIZE=128K -x UCX_TCP_RX_SEG_SIZE=256K) ;;
    node-tuned)
      settings+=(--mca btl_vader_eager_limit 69632 --mca btl_vader_max_send_size 135168
        -x UCX_POSIX_SEG_SIZE=32K -x UCX_SYSV_SEG_SIZE=32K) ;;  # 64 KiB and more: wrong data
  esac
  case $kind in
    tuned) options+=(--mpi-settings tuned --ucx-settings tuned) ;;
    ucx) options+=(--mpi-settings "on UCX") ;;
  esac
  echo "compare_neighbours.sh: $path, $kind, launch $3" >&2
  # Libraries print warnings there, too.
  timeout 120 mpirun -n 2 --bind-to none --mca mpi_yield_when_idle 0 "${settings[@]}" \
    "$build/bin/stripline-neighbours" "${options[@]}" | grep '^{' >"$file.part" || {
      echo "compare_neighbours.sh: this launch failed, or hung for 120 s, after $(wc -l <"$file.part")" \
        "lines of $file.part; the next run repeats it" >&2
      return 1
    }
  mv "$file.part" "$file"
}

for launch in $(seq "$launches"); do
  for kind in default tuned ucx; do
    for path in "${paths[@]}"; do start "$path" "$kind" "$launch"; done
  done
done
for path in "${paths[@]}"; do cat "$folder/$path"-*.jsonl; done >"$folder/all"
"$build/bin/stripline-neighbours-report" --markdown "$folder/all"
