#!/bin/sh
# Another agent: OpenAI's codex, which may write in its folder only.
# Usage: examples/codex.sh TASK.md
set -eu
exec ralph run \
  --agent codex --permission-mode acceptEdits \
  --prompt-file "${1:?usage: codex.sh TASK.md}" \
  --promise "TASK_COMPLETE" --match tag \
  --max-iterations 10 --iteration-timeout 20m --timeout 3h
