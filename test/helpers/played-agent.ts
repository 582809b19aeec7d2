import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const RECORDED = join(import.meta.dirname, '../fixtures/transcripts');

/** A recording in the folder of its agent, and how the program ends after it. */
interface Recording {
  readonly file: string;
  readonly exitCode?: number;
}

/** A program that plays recordings. */
interface PlayedAgent {
  readonly bin: string;
  /** The arguments of each call. */
  readonly calls: () => readonly string[];
  /** What the last call was told. */
  readonly prompt: () => string;
}

/** Makes a program that plays one recording for each call, the last one again. */
export function playedAgent(
  folder: string,
  agent: string,
  recordings: readonly Recording[],
): PlayedAgent {
  const dir = join(folder, `played-${agent}`);
  mkdirSync(dir);
  const cases = recordings.map(({ file, exitCode = 0 }, index) => {
    const base = join(RECORDED, agent, file);
    const pattern = index === recordings.length - 1 ? '*' : String(index + 1);
    return `${pattern}) cat '${base}.jsonl'; cat '${base}.stderr' >&2 2>/dev/null; exit ${exitCode};;`;
  });
  const bin = join(dir, agent);
  writeFileSync(
    bin,
    `#!/bin/sh
echo "$*" >> '${dir}/argv'
number=$(wc -l < '${dir}/argv' | tr -d ' ')
cat > '${dir}/input'
case $number in
${cases.join('\n')}
esac
`,
  );
  chmodSync(bin, 0o755);
  writeFileSync(join(dir, 'argv'), '');
  return {
    bin,
    calls: () => readFileSync(join(dir, 'argv'), 'utf8').split('\n').slice(0, -1),
    prompt: () => readFileSync(join(dir, 'input'), 'utf8'),
  };
}
