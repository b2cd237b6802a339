#!/bin/sh
# container_test.sh ROOT BIN: what the Containerfile names is there: options of the programs in BIN behind its variables, users
# of the units, targets and packages of the build. No image is built.
set -eu
root=$1
bin=$2
file=$root/packaging/container/Containerfile
failed=0
fail() {
  echo "$1" >&2
  failed=1
}
stages=$(sed -n 's/^FROM .* AS //p' "$file")
for stage in build base server agent; do
  echo "$stages" | grep -qx "$stage" || fail "there is no stage '$stage'"
done
sed -n 's/^FROM \([^ ]*\) AS .*/\1/p' "$file" | while read -r image; do
  [ "$image" = debian:12 ] || [ "$image" = base ] || { echo "$image is neither debian:12 nor a stage" >&2; exit 1; }
done || failed=1
for daemon in server agent; do
  stage=$(sed -n "/^FROM base AS $daemon\$/,/^ENTRYPOINT/p" "$file")
  echo "$stage" | grep -qx "USER stripline-$daemon" || fail "the $daemon does not run as stripline-$daemon"
  echo "$stage" | grep -q '^HEALTHCHECK ' || fail "the $daemon has no health check"
  echo "$stage" | grep -q '^VOLUME ' || fail "the $daemon has no volume"
  upper=$(echo $daemon | tr a-z A-Z)
  for variable in $(echo "$stage" | grep -o "STRIPLINE_${upper}_[A-Z_]*" | sort -u); do
    option=--$(echo "${variable#STRIPLINE_"${upper}"_}" | tr A-Z_ a-z-)
    "$bin/stripline-$daemon" --help | grep -q -e "$option" || fail "$variable stands for $option, which stripline-$daemon does not have"
  done
done
for variable in build_packages dashboard_packages; do
  grep -q "^$variable=" "$root/scripts/common.sh" || fail "scripts/common.sh has no $variable"
done
for name in STRIPLINE_BUILD_TESTS STRIPLINE_BUILD_BENCHMARKS; do
  grep -q "option($name" "$root/CMakeLists.txt" || fail "CMakeLists.txt has no option $name"
done
exit $failed
