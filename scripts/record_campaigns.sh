#!/usr/bin/env bash
# Records campaigns, 12 runs each, for 'stripline campaign replay': the whole grids of those experiments that have
# alternatives to choose from.
#
#   scripts/record_campaigns.sh DIR [FABRIC...]
#
# A server and two agents on loopback measure each FABRIC (default: tcp, shm and the five emulated networks
# between which links are private); what they measured goes to DIR/NAME.jsonl.zst. Of each series the median and
# the seconds it took are kept, which is all that a replay reads. What is there already is not measured again. Do not
# run anything beside tcp and shm.
set -euo pipefail
source "$(dirname "$0")/common.sh"
[ $# -ge 1 ] || {
  sed -n '2,/^set -/s/^# \{0,1\}//p' "$0" >&2
  exit 2
}
recordings=$(mkdir -p "$1" && cd "$1" && pwd)
shift
fabrics=("$@")
[ ${#fabrics[@]} -gt 0 ] || fabrics=(tcp shm emulated:{cloud-ethernet,itanium-gm,modern-rdma,opteron-vapi,power5-lapi})
bin=$repository/build/release/bin
experiments=(micro.{atomic,buffered_put,put_combining,vis,vis_chunk,vis_window}
  micro.collective_{all_to_all,all_to_allv,allgather,allreduce,broadcast,gather,reduce,scan})

pids=()
service=$(mktemp -d)
trap 'stop_service; rm -rf "$service"' EXIT
trap 'exit 130' INT TERM
start_service "$service"

for fabric in "${fabrics[@]}"; do
  recording=$recordings/${fabric#emulated:}.jsonl.zst
  [ -s "$recording" ] && continue
  campaign=$("$bin/stripline" campaign run --fabric "$fabric" --effort full --runs 12 --time-budget 30m \
    "${experiments[@]/#/--experiment=}" --detach --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["name"].split("/")[1])')
  "$bin/stripline" campaign watch "$campaign"
  "$bin/stripline" campaign export "$campaign" -o "$service/samples.jsonl"
  python3 - "$service/samples.jsonl" >"$service/brief.jsonl" <<'END'
import json, statistics, sys

short = lambda number: float(f"{number:.6g}")
for line in open(sys.argv[1]):
    series = json.loads(line)
    if series.get("orphan"):
        continue
    ends, count = series["timestamps_s"], len(series["timestamps_s"])
    if count > 1:  # two repetitions of half the seconds each
        seconds = (ends[-1] - ends[0]) * count / (count - 1)
        series["timestamps_s"] = [0, short(seconds / 2)]
        series["values"] = [short(statistics.median(series["values"]))] * 2
    print(json.dumps(series, separators=(",", ":"), sort_keys=True))
END
  zstd -q --ultra -22 "$service/brief.jsonl" -o "$recording"
  ls -l "$recording"
done
