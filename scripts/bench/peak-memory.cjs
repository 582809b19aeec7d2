// Loaded before ralph: when it exits, writes down what the operating system says of its peak memory.
const { readFileSync, writeFileSync } = require('node:fs');

process.on('exit', () => {
  const file = process.env.BENCH_PEAK_FILE;
  if (file !== undefined) writeFileSync(file, String(peakBytes()));
});

/**
 * On Linux of this very program: what getrusage(2) tells there begins with the memory of the process
 * that started it.
 */
function peakBytes() {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  const peak = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return Number(peak) * 1024;
}
