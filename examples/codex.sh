#!/bin/sh
# Another agent: OpenAI's codex, which reads its prompt from standard input when told "-".
# Usage: examples/codex.sh TASK.md
set -eu
exec ralph run \
  --agent command --agent-command "codex exec --full-auto -" \
  --prompt-file "${1:?usage: codex.sh TASK.md}" \
  --promise "TASK_COMPLETE" --match tag \
  --max-iterations 10 --iteration-timeout 20m --timeout 3h
