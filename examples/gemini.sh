#!/bin/sh
# Another agent: Google's gemini, which takes a prompt from standard input when that is no terminal.
# Usage: examples/gemini.sh TASK.md
set -eu
exec ralph run \
  --agent command --agent-command "gemini --yolo" \
  --prompt-file "${1:?usage: gemini.sh TASK.md}" \
  --promise "TASK_COMPLETE" --match tag \
  --max-iterations 10 --iteration-timeout 20m --timeout 3h
