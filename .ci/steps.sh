# What .ci/run and .ci/nightly share: how a step runs, what is kept of it, and the sum at the end.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export NO_COLOR=1
unset FORCE_COLOR CLICOLOR_FORCE

scratch=$(mktemp -d)
# A test starts the node in it as another user.
chmod a+rx "$scratch"
results=$scratch/results
mkdir "$results"
TIMEFORMAT='%R %U %S'

finish() {
  local code=$? pid
  trap - EXIT INT TERM
  # A signal, or a lane that has failed, leaves the other lane and steps running: first what would start the next step.
  for pid in $(jobs -p) $(cat "$results"/*.pid 2>/dev/null || true); do kill "$pid" 2>/dev/null || true; done
  [ "$code" -eq 0 ] || echo "$code" >"$results/script.exit"
  code=0
  node scripts/sum-results.js "$results" || code=$?
  rm -rf "$scratch"
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# step NAME SECONDS COMMAND...: runs the command, which should take no longer than that on a quiet machine of two
# cores. Keeps its output, exit code and times for the sum; shows the end of the output, or all of it after a failure.
step() {
  local name=$1 code=0
  echo "$2" >"$results/$name.budget"
  shift 2
  printf '== %s: %s\n' "$name" "$*"
  { time limited "$name" "$@" </dev/null >"$results/$name.log" 2>&1; } 2>"$results/$name.time" || code=$?
  echo "$code" >"$results/$name.exit"
  if [ "$code" -eq 0 ]; then tail -n 8 "$results/$name.log"; else cat "$results/$name.log"; fi
  printf '== %s ended with exit code %s after %s s\n\n' "$name" "$code" "$(cut -d ' ' -f 1 "$results/$name.time")"
  return "$code"
}

# limited NAME COMMAND...: a step that hangs must not cost the closing line. It is waited for, so that a signal to this
# script is heard meanwhile.
limited() {
  local name=$1 code=0
  shift
  if command -v timeout >/dev/null; then timeout -k 10 "${RALPH_CI_LIMIT:-60m}" "$@" & else "$@" & fi
  echo $! >"$results/$name.pid"
  wait $! || code=$?
  rm -f "$results/$name.pid"
  return "$code"
}

# lane FUNCTION: runs steps that others run beside. It has ended well only if it came to its end.
lane() {
  echo 0 >"$results/$1.budget"
  "$1"
  rm "$results/$1.budget"
}

# suite NAME SECONDS COMMAND...: a step that is a run of vitest. It fails for itself: those after it run all the same.
suite() {
  local name=$1
  step "$@" --reporter=default --reporter=json --outputFile.json="$results/$name.json" || true
}

# node_tests FOLDER: the words of a command that runs vitest with the node in this folder, one on each line. Each command
# line of a test has a process of its own there: how one starts and ends is what Node itself does.
node_tests() {
  printf '%s\n' env "PATH=$1:$PATH" RALPH_TEST_PROCESSES=own "$1/node" node_modules/vitest/vitest.mjs run
}

# install_node MAJOR: installs it, and sets `bin` to the folder of its program. The `node` package only fetches the one
# for this machine, in an install script; this takes it at once.
install_node() {
  local package
  package=$(node -p '`node${process.platform === "darwin" && process.arch === "arm64" ? "-bin" : ""}-${process.platform}-${process.arch}`')
  bin=$scratch/node-$1/node_modules/$package/bin
  step "install-node-$1" 20 npm install --no-save --prefix "$scratch/node-$1" "$package@$1"
}

# Installs with apt what is missing of what the tests start, where that is allowed. Tests that need a missing one are
# left out, and say so, but those of the fleet and of the units for systemd, which fail.
install_programs() {
  local program package
  [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null || return 0
  # strace kills ralph from outside at its system calls; two shells complete what is typed into them; systemd-analyze
  # loads the units of examples/; iproute2 (ip) makes the networks of a fleet's hosts, and faketime their clocks.
  for program in strace zsh fish systemd-analyze:systemd ip:iproute2 faketime; do
    command -v "${program%:*}" >/dev/null && continue
    package=${program#*:}
    (apt-get install -y "$package" || (apt-get update && apt-get install -y "$package")) >/dev/null 2>&1 || true
  done
}

# lines FILE: its lines but comments and empty ones.
lines() {
  grep -v -e '^#' -e '^$' "$1"
}
