#!/bin/sh
# Runs one task and acts on how it ended.
# Usage: examples/nightly.sh TASK.md
set -u
ralph run --prompt-file "${1:?usage: nightly.sh TASK.md}" --promise "TASK_COMPLETE" \
  --task-type coding --permission-mode acceptEdits --quiet
code=$?
case $code in
  0) echo "done" ;;
  1) echo "cannot go on, the note says why" ;;
  2) echo "not started: the command line is wrong, or this is not possible here" ;;
  3 | 4) echo "not finished in time, see Needs_Action" ;;
  5) echo "stuck, see Needs_Action" ;;
  6) echo "held, ralph resume continues" ;;
  7) echo "already running" ;;
  8) echo "the money for it is spent" ;;
  75) echo "the service is away, try again later" ;;
  129 | 130 | 143) echo "stopped" ;;
  *) echo "unexpected" ;;
esac
# The caller of this script acts on it in turn.
exit "$code"
