#!/usr/bin/env bash
# How much models of budgeted campaigns vary, and what their decisions lose.
#
#   scripts/check_budgets.sh [CAMPAIGNS] [NETWORKS]
#
# A server and two agents on loopback make CAMPAIGNS (10) budgeted campaigns of each of two emulated
# networks, a 400 Gbit/s RDMA fabric with a switch of protocols at 12 KiB and 1 Gbit/s Ethernet among
# virtual machines, and of NETWORKS (1) random ones; stripline-results judges the models. What was
# made is kept in build/budgets, where an interrupted check goes on; remove it to begin again.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$repository"
campaigns=${1:-10}
random=${2:-1}

configure_and_build release installed stripline-results
bin=$repository/build/release/bin
folder=$repository/build/budgets
mkdir -p "$folder/profiles" "$folder/models"
python3 scripts/make_profiles.py "$folder/profiles" "$random"
revision=$(git describe --always --dirty --abbrev=12)
kept=$(cat "$folder/revision" 2>/dev/null || echo "$revision")
[ "$kept" = "$revision" ] || {
  echo "check.sh budgets: the campaigns in build/budgets are of $kept and count; remove the folder to start over" >&2
}
echo "$kept" >"$folder/revision"
for profile in "$folder"/profiles/*.json; do agent_options+=(--profile "$profile"); done

pids=()
service=$(mktemp -d)
trap 'stop_service; rm -rf "$service"' EXIT
trap 'exit 130' INT TERM
start_service "$service"

models=()
for profile in "$folder"/profiles/*.json; do
  fabric=emulated:$profile
  name=$(basename "$profile" .json)
  for i in $(seq "$campaigns"); do
    file=$folder/models/$name-$i.stripline.json
    [ -s "$file" ] || {
      echo "== campaign $i of $campaigns of $name"
      "$bin/stripline" campaign run --fabric "$fabric" --effort budgeted --model "$name-$i" \
        >"$service/campaign.log" 2>&1 || {
        cat "$service/campaign.log" >&2
        exit 1
      }
      "$bin/stripline" model fetch "$name-$i" -o "$file"
    }
    models+=(--model "$fabric=$file")
  done
done
stop_service
"$bin/stripline-results" --out "$folder/results" "${models[@]}" budgeted
