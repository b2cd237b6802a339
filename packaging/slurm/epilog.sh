#!/bin/sh
# Epilog= of slurm.conf, on each node, as root, after a job: when no other job is there, the node's agent starts. With
# 'enroll' in /etc/stripline/agent.toml it enrols the node where that is needed: one token for all nodes, made with
# --count (docs/slurm.md).
#
# It ends with 0 whatever happens: Slurm would drain the node otherwise.
unit=stripline-agent.service
say() { logger -t stripline-epilog -- "$*"; }

# Only where an administrator wants an agent.
systemctl --quiet is-enabled "$unit" || exit 0

node=${SLURMD_NODENAME:-$(hostname -s)}
# Of this job itself there may still be something to see.
if ! jobs=$(timeout 20 squeue --noheader --nodelist="$node" --states=RUNNING,SUSPENDED,STOPPED --format=%A); then
  say "squeue does not say which jobs $node has: its agent stays as it is until the next job has ended"
  exit 0
fi
for job in $jobs; do
  [ "$job" = "${SLURM_JOB_ID:-}" ] || exit 0
done
# Describing the node takes a while, for which no one waits.
timeout 20 systemctl --no-block start "$unit" || say "$unit could not be started: systemctl status $unit"
exit 0
