#!/bin/sh
# slurm_test.sh FOLDER: what the examples for Slurm do on each occasion. FOLDER is packaging/slurm/. Commands of Slurm
# and systemd are stand-ins that write down how they are called, and answer as the occasion says.
set -eu
examples=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
failed=0
fail() {
  echo "$1:" >&2
  sed 's/^/  /' "$work/said" >&2
  failed=1
}
# stand_in NAME BODY: its arguments are written down, then BODY is carried out.
stand_in() {
  printf '#!/bin/sh\necho "%s $*" >>"%s/said"\n%s\n' "$1" "$work" "$2" >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}
stand_in logger :
stand_in srun :
# occasion ACTIVE ENABLED JOBS: whether the agent runs, whether it is to run, and which jobs the node has.
occasion() {
  stand_in systemctl "case \$* in *is-active*) exit $1 ;; *is-enabled*) exit $2 ;; esac"
  stand_in squeue "$3"
}
# carry_out EXPECTED_CODE PROGRAM [ARGUMENT...]
carry_out() {
  expected=$1
  shift
  : >"$work/said"
  code=0
  SLURM_JOB_ID=7 SLURMD_NODENAME=n17 PATH=$work/bin:$PATH "$@" >"$work/out" 2>&1 || code=$?
  cat "$work/out" >>"$work/said"
  [ "$code" = "$expected" ] || fail "$* ended with $code, not $expected"
}
says() { grep -q -e "$1" "$work/said" || fail "it lacks '$1'"; }
lacks() { ! grep -q -e "$1" "$work/said" || fail "it has '$1'"; }

occasion 0 0 ':'
carry_out 0 sh "$examples/prolog.sh"
says 'systemctl stop stripline-agent.service'
occasion 3 0 ':'
carry_out 0 sh "$examples/prolog.sh"
lacks 'stop'
stand_in systemctl 'case $* in *stop*) exit 1 ;; esac'
carry_out 0 sh "$examples/prolog.sh"
says 'logger .*did not end in time for job 7'

occasion 3 0 ':'
carry_out 0 sh "$examples/epilog.sh"
says 'squeue .*--nodelist=n17'
says 'systemctl --no-block start stripline-agent.service'
occasion 3 0 'echo 7'
carry_out 0 sh "$examples/epilog.sh"
says 'start stripline-agent.service'
occasion 3 0 'printf "7\n8\n"'
carry_out 0 sh "$examples/epilog.sh"
lacks 'start'
occasion 3 1 ':'
carry_out 0 sh "$examples/epilog.sh"
lacks 'start'
occasion 3 0 'exit 1'
carry_out 0 sh "$examples/epilog.sh"
lacks 'start'
says 'logger .*squeue does not say'

if command -v bash >/dev/null; then
  touch "$work/token"
  stand_in scontrol 'echo "JobId=7 JobName=x OverSubscribe=NO Contiguous=0"'
  carry_out 0 bash "$examples/agents.sbatch" head:7411
  says 'srun .* stripline-agent --server head:7411 --job$'
  carry_out 0 bash "$examples/agents.sbatch" head:7411 "$work/token"
  says "stripline-agent --server head:7411 --job --enroll $work/token$"
  carry_out 2 bash "$examples/agents.sbatch" head:7411 "$work/nothing"
  says 'cannot be read'
  lacks 'srun'
  stand_in scontrol 'echo "JobId=7 JobName=x OverSubscribe=OK Contiguous=0"'
  carry_out 2 bash "$examples/agents.sbatch" head:7411
  says 'submit it with --exclusive'
  lacks 'srun'
fi
exit $failed
