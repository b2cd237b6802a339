#!/bin/sh
# Prolog= of slurm.conf, on each node, as root, before a job: the node's agent ends, so that the job has the node
# alone. What it was measuring is measured again elsewhere, which is not charged to the campaign (docs/slurm.md).
#
# It ends with 0 whatever happens: Slurm would drain the node otherwise.
unit=stripline-agent.service
say() { logger -t stripline-prolog -- "$*"; }

if systemctl --quiet is-active "$unit"; then
  timeout 25 systemctl stop "$unit" || say "$unit did not end in time for job ${SLURM_JOB_ID:-?}: it may disturb it"
fi
exit 0
