# Shared by the scripts here: where the repository is, and what it needs from Debian 12.
# Sourced, not run.

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Lets ccache recognise the same sources in another clone.
export CCACHE_BASEDIR=$repository CCACHE_NOHASHDIR=1

# What building and testing needs, and what the checks need besides.
build_packages=(
  build-essential cmake ninja-build ccache pkg-config
  libfabric-dev libgrpc++-dev libgrpc-dev protobuf-compiler protobuf-compiler-grpc libprotobuf-dev
  libnghttp2-dev
  nlohmann-json3-dev libsqlite3-dev libeigen3-dev libboost1.81-dev libboost-context1.81-dev
  libcli11-dev libspdlog-dev libtomlplusplus-dev prometheus-cpp-dev libcpp-httplib-dev libzstd-dev
  libpq-dev libhwloc-dev libpmix-dev libssl-dev libgtest-dev libbenchmark-dev python3)
check_packages=(
  postgresql
  clang-14 libclang-rt-14-dev lld-14 clang-format-14 clang-tidy-14 git iproute2 openssh-client openssh-server procps util-linux
  openmpi-bin libopenmpi-dev slurm-wlm munge
  doxygen)
# For the dashboard, without which the server is built as well. Nodejs of elsewhere brings its npm.
dashboard_packages=(nodejs npm)
# For scripts/check.sh pages.
pages_packages=(chromium fonts-dejavu-core)
# For the rpm packages of scripts/check.sh packages, which leaves them out where they are not there.
rpm_packages=(rpm)
# For trying alert rules (packaging/monitoring), likewise.
monitoring_packages=(prometheus)
# What the runtime is compared with (scripts/compare.py neighbours).
neighbour_packages=(openmpi-bin libopenmpi-dev libucx-dev)
# Other runtimes that are tuned (suites/targets): their programs and compilers.
target_packages=(openmpi-bin libopenmpi-dev mpich libmpich-dev ucx-utils libfabric-bin libfabric-dev)
# What the emulated fat tree is compared with (scripts/check.sh simgrid). LGPL; never linked by what is
# installed.
simgrid_packages=(libsimgrid3.32)

# require_packages NAME...: installs what is missing; without root, says what to run and exits.
require_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    echo "These packages are missing. Install them and run this script again:" >&2
    echo "  sudo apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 4
  fi
  echo "Installing ${#missing[@]} packages: ${missing[*]}"
  DEBIAN_FRONTEND=noninteractive apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    >/dev/null
}

# What the dashboard is built with, unless it is there.
require_node() {
  command -v npm >/dev/null || require_packages "${dashboard_packages[@]}"
}

# In an empty cache nothing is found: to preprocess each source first, so as to look for it, takes a tenth of a build.
# ccache then takes what a source includes from the compiler. Asked once, as the first build fills the cache.
cache_was_looked_at=
look_at_cache() {
  [ -z "$cache_was_looked_at" ] || return 0
  cache_was_looked_at=1
  local files
  files=$(ccache --print-stats 2>/dev/null | awk '$1 == "files_in_cache" { print $2 }') || return 0
  if [ "$files" = 0 ]; then export CCACHE_DEPEND=1; fi
}

# configure_and_build PRESET [TARGET...]
configure_and_build() {
  local preset=$1
  shift
  look_at_cache
  (cd "$repository" && cmake --preset "$preset" >/dev/null &&
    cmake --build --preset "$preset" ${1:+--target "$@"})
}

# Options of the agents that start_service starts.
agent_options=()

# start_service FOLDER: a server that is open to this user alone, with its dashboard, and two agents,
# node-a and node-b, on loopback, of the release build; data and logs go to FOLDER. Sets STRIPLINE_SERVER, dashboard
# (its address), dashboard_token (the file that lets in there) and pids, the server's first.
start_service() {
  local folder=$1 bin=$repository/build/release/bin node state=${XDG_STATE_HOME:-$HOME/.local/state}
  pids=()
  "$bin/stripline-server" --dev --data-dir "$folder/server" --listen 127.0.0.1:0 --http-listen 127.0.0.1:0 \
    --port-file "$folder/address" 2>"$folder/server.log" &
  pids+=($!)
  for _ in $(seq 100); do
    [ -s "$folder/address" ] && break
    kill -0 "${pids[0]}" 2>/dev/null || {
      cat "$folder/server.log" >&2
      return 1
    }
    sleep 0.1
  done
  STRIPLINE_SERVER=$(cat "$folder/address")
  export STRIPLINE_SERVER
  dashboard=$(sed -n 's/.*dashboard on //p' "$folder/server.log")
  dashboard_token=$state/stripline/dev-$(uname -n)-${STRIPLINE_SERVER##*:}.token
  for node in node-a node-b; do
    "$bin/stripline-agent" --server "$STRIPLINE_SERVER" --node "$node" "${agent_options[@]}" \
      2>"$folder/$node.log" &
    pids+=($!)
  done
  for _ in $(seq 100); do
    [ "$("$bin/stripline" nodes --json 2>/dev/null | grep -c IDLE)" = 2 ] && return 0
    sleep 0.1
  done
  echo "the agents did not connect to the server; the ends of their logs:" >&2
  tail -n 5 "$folder"/node-*.log >&2
  return 1
}

# Ends what start_service has started.
stop_service() {
  local pid
  for pid in "${pids[@]:-}"; do [ -z "$pid" ] || kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]:-}"; do [ -z "$pid" ] || wait "$pid" 2>/dev/null || true; done
}

# tidy DATABASE [--named]: clang-tidy over all sources but generated ones and the fuzzers', or those of them that standard
# input names, as the release build compiles them: several at once, which is quicker by the headers that they share.
# What is remembered is in DATABASE, a folder of build/release.
tidy() {
  local build=build/release database=build/release/$1
  shift
  mkdir -p "$database"
  # Without what only GCC knows (stripline_clears_small_values()).
  sed 's/-mmem[a-z]*-strategy=[^ "]*//g' "$build/compile_commands.json" >"$database/compile_commands.json"
  python3 scripts/tidy_pieces.py "$database" "$@" --extra-arg=-Wno-unknown-warning-option
}
