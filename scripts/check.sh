#!/usr/bin/env bash
# The checks that take longer than a test run.
#
#   scripts/check.sh tsan            build with ThreadSanitizer and run the tests without processes of their own, and
#                                    OpenSHMEM programs of threads
#   scripts/check.sh fuzz [SECONDS [EXECUTIONS [NAME...]]]  build the fuzzers and run each (or those of these names, such
#                                    as http_door) for SECONDS (default 60); with EXECUTIONS it fails unless each has
#                                    made as many in that time, and ends once it has
#   scripts/check.sh tidy            clang-tidy over every source file that is not known to be clean; goes on where it ended
#   scripts/check.sh includes        folders include what docs/architecture.md allows, and none in a circle;
#                                    part of every test run
#   scripts/check.sh language [record|list KIND [PATH...]]  words that docs/glossary.md asks not to use, against the
#                                    numbers in scripts/language_counts.txt, which only fall: part of every test run.
#                                    record: write lower numbers; list: every occurrence
#   scripts/check.sh reference [DIR]  the reference of the programming interface, from the public headers by doxygen,
#                                    in DIR/html (default build/reference); what is public and not documented is an error
#   scripts/check.sh plans           record again what the planners decide (tests/plans), and list every
#                                    decision that is another one than was recorded
#   scripts/check.sh schema          write docs/schema/model-v1.schema.json from the sections of the model, and the fields of
#                                    campaigns that the page asks for
#   scripts/check.sh mixed [SEEDS]   a million mixed operations per seed (default 20) and fabric against
#                                    an oracle
#   scripts/check.sh kills [TRIES]   ranks killed at random moments, TRIES times (default 40) on each of
#                                    five paths, OpenSHMEM's among them, and in regions that do not wait
#   scripts/check.sh crashes [TRIES]  server, agents, workers and PostgreSQL killed at random moments, TRIES
#                                    times (default 200) with each store, and what else befalls a server: stopped, disk full,
#                                    read-only, its clock set by days, replaced by its backup
#   scripts/check.sh debug           the fast tests with their ranks in debug mode, which correct programs must not notice
#   scripts/check.sh litmus [TIMES]  the memory model's litmus tests, TIMES times each (default 10000)
#   scripts/check.sh updates [SEEDS]  a million random updates against the same one by one, with SEEDS seeds
#                                    (default 20), on each fabric
#   scripts/check.sh gathers [SEEDS]  indices of up to a million entries against the elements they name, with
#                                    SEEDS seeds (default 20), on each fabric
#   scripts/check.sh edges [SEEDS] [FIRST]  calls of the public headers with arguments at the edges of their range, one
#                                    argument at a time, and random ones for SEEDS seeds (default 2000) from FIRST on
#   scripts/check.sh schedules [RANKS]  replayed computation with RANKS ranks (default 64), however the host
#                                    schedules them
#   scripts/check.sh simgrid         the emulated fat tree beside SimGrid's fluid model: a table of patterns
#   scripts/check.sh neighbours      every system of the comparison with neighbours delivers right data,
#                                    in two short launches of each kind
#   scripts/check.sh libfabric DIR   what was built, with the libfabric in DIR (or DIR/lib) instead of the
#                                    installed one: the doctor, and the tests that use a network
#   scripts/check.sh backup [MIB]    a database of MIB MiB (default 1024) is backed up while samples are
#                                    stored, and restored
#   scripts/check.sh packages [FRESH]  make the Debian packages, and look whether what is in them works, in a
#                                    system of debootstrap's, too
#   scripts/check.sh load [AGENTS] [SECONDS]  a server under AGENTS agents over TLS (default 100) for SECONDS
#                                    (default 10), killed and started again in the middle: what it takes
#   scripts/check.sh soak [MINUTES]  a server for MINUTES minutes (default 60) under 1,000 agents that send 20,000
#                                    samples/s, 50 browsers and an attacker of each kind of caller: fails unless
#                                    p99 < 100 ms, nothing is lost, memory stays and browsers are answered
#   scripts/check.sh pages [DIR]     every page of the dashboard in Chromium, by a server with a campaign of its
#                                    own: controls, axe, overflow at 360 px, pictures in DIR (default build/pages); and
#                                    times and memory with 5,000 campaigns, two of them of 250,000 points
#   scripts/check.sh budgets [CAMPAIGNS] [NETWORKS]  CAMPAIGNS budgeted campaigns (default 10) of each of two emulated
#                                    networks unlike those that are built in and of NETWORKS random ones (default
#                                    1): how much their models vary, and what their decisions lose
#   scripts/check.sh claims [CLAIMS] [SEED]  CLAIMS claims "gains at least x" (default 1000) about random loops on
#                                    random networks against the truth: 95 % have to hold
#   scripts/check.sh programs [STEPS...]  five programs as users write them, with a model, without one and with a
#                                    wrong one, on two emulated networks, tcp and mapped memory: ratios of their times,
#                                    and what the guard took
#   scripts/check.sh networks [NETWORKS] [SEED]  NETWORKS random emulated networks (default 10), drawn by SEED (default 1):
#                                    what the model of a budgeted campaign of each decides on random problems, beside a
#                                    sweep and beside no model
#   scripts/check.sh openshmem DIR [PES...]  public OpenSHMEM programs, whose clones are in DIR, with PES PEs (default 2 3 4 5)
#                                    on four paths: which of them build and end well
#   scripts/check.sh openshmem-order [SEEDS [OPERATIONS]]  random operations of OpenSHMEM programs, OPERATIONS of a job (default
#                                    1000000), against a sequential program with SEEDS seeds (default 20) on six paths, by
#                                    one thread and two, with what need not wait and without; litmus tests; and the memory that ten
#                                    million puts take. Hours on two cores
#   scripts/check.sh regions [SEEDS [CALLS]]  random programs of CALLS calls (default 1000000) in bulk and fine-grained regions
#                                    against the same without, with SEEDS seeds (default 20), on each fabric
#   scripts/check.sh targets [STEP...]  other runtimes as Debian has them (Open MPI, MPICH, ...): what may be exported is right with 2 to 9
#                                    ranks; tuning beside a sweep of all alternatives (right found); repetitions (repeat)
#   scripts/check.sh coverage        the coverage of the fitter's intervals over 1000 seeds
#   scripts/check.sh campaign-coverage [CAMPAIGNS]  the same at the end of CAMPAIGNS synthetic campaigns (default 1000)
#                                    with budgets, lost runs and early ends
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$repository"
require_packages "${build_packages[@]}" "${check_packages[@]}"

case ${1:-} in
  tsan)
    configure_and_build tsan
    rm -f build/tsan/races/*
    ctest --preset tsan -j 1 -LE e2e
    if compgen -G 'build/tsan/races/*' >/dev/null; then
      awk -f tests/sanitizers/own_races.awk build/tsan/races/* >&2
    fi
    ;;
  fuzz)
    require_packages "${check_packages[@]}"
    seconds=${2:-60} executions=${3:--1} names=" ${*:4} "
    configure_and_build fuzz fuzzers
    # Real documents to start from; what the fuzzer adds goes to the first folder, in build/.
    declare -A seeds=([parse_model_fuzz]=docs/schema/examples
      [parse_profile_fuzz]=runtime/fabric/emulated/profiles
      [parse_compute_trace_fuzz]=runtime/fabric/emulated/fuzz_seeds
      [experiment_json_fuzz]=optimizer/experiment/fuzz_seeds
      [orders_fuzz]=optimizer/experiment/fuzz_seeds
      [agent_messages_fuzz]=optimizer/experiment/fuzz_seeds
      [switches_of_host_fuzz]=runtime/fabric/fuzz_seeds
      [offline_results_fuzz]=optimizer/campaign/fuzz_seeds
      [api_fuzz]=server/doors/fuzz_seeds
      [http_door_fuzz]=server/doors/http/fuzz_seeds
      [jwt_fuzz]=server/security/oidc/fuzz_seeds
      [target_files_fuzz]=optimizer/targets/fuzz_seeds
      [nest_json_fuzz]=docs/schema/nests)
    for fuzzer in build/fuzz/bin/*_fuzz; do
      name=$(basename "$fuzzer")
      [[ $names == "  " || $names == *" ${name%_fuzz} "* ]] || continue
      corpus=build/fuzz/corpus/$name
      mkdir -p "$corpus"
      echo "== $name for $seconds s"
      "$fuzzer" -max_total_time="$seconds" -runs="$executions" -max_len=65536 -rss_limit_mb=2048 -verbosity=0 \
        -print_final_stats=1 -artifact_prefix="$corpus." "$corpus" ${seeds[$name]:-} 2>&1 | tee "$corpus.log"
      made=$(sed -n 's/^stat::number_of_executed_units: *//p' "$corpus.log")
      if [ "${made:-0}" -lt "$executions" ]; then
        echo "check.sh fuzz: $name made ${made:-0} executions of $executions in $seconds s" >&2
        exit 1
      fi
    done
    ;;
  tidy)
    require_packages "${neighbour_packages[@]}"  # whose sources are not built without them
    configure_and_build release
    tidy tidy_all
    ;;
  includes)
    git ls-files '*.h' '*.cc' | xargs awk -f scripts/check_includes.awk docs/architecture.md
    ;;
  language)
    shift
    python3 scripts/check_language.py "$@"
    ;;
  reference)
    folder=${2:-build/reference}
    scripts/make_reference.sh "$folder"
    echo "the reference begins at $folder/html/index.html"
    ;;
  plans)
    configure_and_build release plan_corpus_test
    STRIPLINE_TEST_SOURCE=$repository STRIPLINE_TEST_WRITE_PLANS=1 build/release/bin/plan_corpus_test
    ;;
  schema)
    configure_and_build release model_test campaign_test
    export STRIPLINE_TEST_SOURCE=$repository STRIPLINE_TEST_WRITE_SCHEMA=1
    build/release/bin/model_test --gtest_filter='ModelSchema.*'
    build/release/bin/campaign_test --gtest_filter='SpecFields.*'
    ;;
  mixed)
    configure_and_build release rma_test
    STRIPLINE_TEST_MIXED_OPERATIONS=250000 STRIPLINE_TEST_MIXED_SEEDS=${2:-20} \
      build/release/bin/rma_test --gtest_filter='*Mixed*'
    ;;
  kills)
    configure_and_build release e2e_kills_test
    STRIPLINE_TEST_KILL_TRIES=${2:-40} build/release/bin/e2e_kills_test
    ;;
  crashes)
    configure_and_build release e2e_crashes_test
    STRIPLINE_TEST_CRASHES=${2:-200} build/release/bin/e2e_crashes_test
    ;;
  edges)
    configure_and_build release edges
    build/release/bin/edges
    build/release/bin/edges "${3:-1}" "${2:-2000}"
    ;;
  debug)
    configure_and_build release
    STRIPLINE_TEST_DEBUG=1 ctest --preset release -j "$(nproc)" -L fast -LE grpc
    ;;
  litmus)
    configure_and_build release litmus_test
    STRIPLINE_TEST_LITMUS_ITERATIONS=${2:-10000} build/release/bin/litmus_test
    ;;
  updates)
    configure_and_build release update_test
    STRIPLINE_TEST_UPDATES=1000000 STRIPLINE_TEST_UPDATE_SEEDS=${2:-20} \
      build/release/bin/update_test --gtest_filter='*UpdateOracle.*'
    ;;
  gathers)
    configure_and_build release gather_test
    STRIPLINE_TEST_GATHERS=1000000 STRIPLINE_TEST_GATHER_SEEDS=${2:-20} \
      build/release/bin/gather_test --gtest_filter='*GatherOracle.*'
    ;;
  schedules)
    configure_and_build release scale_schedules_test
    STRIPLINE_TEST_SCHEDULE_RANKS=${2:-64} build/release/bin/scale_schedules_test
    ;;
  simgrid)
    require_packages "${simgrid_packages[@]}"
    # Its headers only: the package that has them needs another Boost than ours, and excludes it.
    rm -rf build/simgrid
    mkdir -p build/simgrid/root
    (cd build/simgrid && apt-get download -qq libsimgrid-dev &&
      dpkg-deb -x libsimgrid-dev_*.deb root)
    cmake --preset release -DSTRIPLINE_SIMGRID_ROOT="$repository/build/simgrid/root" >/dev/null
    cmake --build --preset release --target simgrid_fat_tree
    build/release/bin/simgrid_fat_tree --log=root.thresh:warning
    ;;
  neighbours)
    require_packages "${neighbour_packages[@]}"
    configure_and_build release stripline-neighbours stripline-neighbours-report
    rm -rf build/neighbours
    scripts/compare.py neighbours build/release build/neighbours 2 1
    ;;
  libfabric)
    folder=${2:-}
    [ -e "$folder/libfabric.so.1" ] || folder=$folder/lib
    [ -e "$folder/libfabric.so.1" ] || {
      echo "check.sh libfabric: neither '${2:-}' nor its lib has a libfabric.so.1" >&2
      exit 2
    }
    [ -x build/release/bin/stripline-doctor ] || {
      echo "check.sh libfabric: nothing is built in build/release; 'cmake --preset release' and 'cmake --build --preset release' build it" >&2
      exit 2
    }
    LD_LIBRARY_PATH=$(realpath "$folder")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    build/release/bin/stripline-doctor
    ctest --preset release -j 2 --timeout 600 \
      -R '^(ofi_.*|doctor|bootstrap|am|rma|sync|vis|array|litmus|loop)_test$'
    ;;
  backup)
    configure_and_build release server_store_test
    STRIPLINE_TEST_BACKUP_MIB=${2:-1024} build/release/bin/server_store_test --gtest_filter='BackupTest.*'
    ;;
  packages)
    shift
    scripts/check_packages.sh "$@"
    ;;
  load)
    configure_and_build release stripline-load
    build/release/bin/stripline-load --agents "${2:-100}" --seconds "${3:-10}"
    ;;
  soak)
    require_node # browsers look at the dashboard
    configure_and_build release stripline-load
    build/release/bin/stripline-load --soak --agents 1000 --runs 40 --samples 20000 --seconds "$((60 * ${2:-60}))"
    ;;
  pages)
    require_node
    require_packages "${pages_packages[@]}"
    configure_and_build release installed stripline-fill
    scripts/check_pages.sh "${2:-build/pages}"
    ;;
  budgets)
    shift
    scripts/check_budgets.sh "$@"
    ;;
  programs)
    shift
    scripts/check_programs.sh "$@"
    ;;
  networks)
    shift
    scripts/check_networks.sh "$@"
    ;;
  openshmem)
    shift
    scripts/check_openshmem.sh "$@"
    ;;
  openshmem-order)
    configure_and_build release shmem_order_test shmem_programs_test
    # Half an operation a millisecond, where PEs share processors; shmem/tests/litmus.c has room for 200 rounds.
    STRIPLINE_TEST_SHADOW=${3:-1000000} STRIPLINE_TEST_SHADOW_SEEDS=${2:-20} STRIPLINE_TEST_SHMEM_LITMUS=200 \
      STRIPLINE_TEST_JOB_LIMIT_S=$((600 + ${3:-1000000} / 500)) build/release/bin/shmem_order_test
    STRIPLINE_TEST_FLOOD=10000000 STRIPLINE_TEST_JOB_LIMIT_S=1800 \
      build/release/bin/shmem_programs_test --gtest_filter='*KeepsPutsWithinABudgetOfMemory'
    ;;
  regions)
    configure_and_build release bulk_region_test fine_region_test
    STRIPLINE_TEST_BULK=${3:-1000000} STRIPLINE_TEST_BULK_SEEDS=${2:-20} \
      build/release/bin/bulk_region_test --gtest_filter='*BulkOracle.RandomPrograms*'
    STRIPLINE_TEST_FINE=$((${3:-1000000} / 3)) STRIPLINE_TEST_FINE_SEEDS=${2:-20} \
      build/release/bin/fine_region_test --gtest_filter='*FineOracle.RandomPrograms*'
    ;;
  targets)
    shift
    scripts/check_targets.sh "$@"
    ;;
  coverage)
    configure_and_build release fit_coverage
    build/release/bin/fit_coverage --seeds 1000
    ;;
  claims)
    configure_and_build release claims_coverage
    build/release/bin/claims_coverage --claims "${2:-1000}" --first-seed "${3:-1000001}"
    ;;
  campaign-coverage)
    configure_and_build release campaign_coverage
    build/release/bin/campaign_coverage --campaigns "${2:-1000}"
    ;;
  *)
    sed -n '2,/^set -/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
