#!/bin/sh
# Another agent: Google's gemini, which may do everything: run this in a container.
# Usage: examples/gemini.sh TASK.md
set -eu
exec ralph run \
  --agent gemini --dangerously-skip-permissions \
  --prompt-file "${1:?usage: gemini.sh TASK.md}" \
  --promise "TASK_COMPLETE" --match tag \
  --max-iterations 10 --iteration-timeout 20m --timeout 3h
