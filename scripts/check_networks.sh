#!/usr/bin/env bash
# What models of networks that no one described decide, beside sweeps and beside doing without a model.
#
#   scripts/check_networks.sh [NETWORKS] [SEED]
#
# Draws NETWORKS (10) emulated networks by SEED (1), makes a budgeted campaign of each by a server and two
# agents on loopback, and judges the models on problems that are drawn, too (stripline-results networks). Campaigns
# and problems both take declared computation: what packing and computing take is that of the processor that is
# drawn with a network, not of this host, of which a model would know nothing that holds there.
# What was made is kept in build/networks/SEED, where an interrupted check goes on; remove it to begin
# from nothing.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$repository"
count=${1:-10}
seed=${2:-1}

configure_and_build release installed stripline-results
bin=$repository/build/release/bin
folder=$repository/build/networks/$seed
mkdir -p "$folder/profiles" "$folder/models"
python3 scripts/random_profiles.py "$folder/profiles" "$count" "$seed"
profiles=()
for number in $(seq "$count"); do profiles+=("$folder/profiles/random-$seed-$number.json"); done
for profile in "${profiles[@]}"; do agent_options+=(--profile "$profile"); done

pids=()
service=$(mktemp -d)
trap 'stop_service; rm -rf "$service"' EXIT
trap 'exit 130' INT TERM
start_service "$service"

models=()
failed=()
for profile in "${profiles[@]}"; do
  fabric=emulated:$profile
  name=$(basename "$profile" .json)
  file=$folder/models/$name.stripline.json
  if [ ! -s "$file" ]; then
    echo "== campaign of $name" >&2
    # A campaign that fails publishes nothing that programs would use.
    if "$bin/stripline" campaign run --fabric "$fabric,compute=declared" --effort budgeted --model "$name" \
      >"$folder/models/$name.log" 2>&1; then
      "$bin/stripline" model fetch "$name" -o "$file" >&2
    fi
  fi
  if [ -s "$file" ]; then models+=(--model "$fabric=$file"); else failed+=("$name"); fi
done
stop_service
"$bin/stripline-results" --out "$folder/results" --seed "$seed" "${models[@]}" networks
if [ ${#failed[@]} -gt 0 ]; then
  echo
  echo "No model, as their campaigns failed (see $folder/models): ${failed[*]}"
fi
