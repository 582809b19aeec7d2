#!/bin/sh
# Commits what each iteration has changed. Its outcome comes as one line of JSON on standard input.
# Usage: ralph run … --after examples/commit-after.sh
set -eu
iteration=$(sed -n 's/.*"iteration":\([0-9]*\).*/\1/p')
git add --all
git diff --cached --quiet || git commit --quiet --message "$RALPH_TASK_ID: iteration $iteration"
