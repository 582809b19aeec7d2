import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Scene } from './scene.ts';

/** One call of a judge. */
interface JudgeTurn {
  /** Printed, with the nonce of the call in place of `NONCE`; the first nonce in place of `FIRST`. */
  readonly answer?: string;
  /** Run in the judge's folder before it answers. */
  readonly shell?: string;
  readonly exitCode?: number;
}

/** A program as judge, and what it was asked. */
export interface FakeJudge {
  /** The flags that name it. */
  readonly args: readonly string[];
  /** Its prompts, one for each call. */
  prompts(): readonly string[];
}

/** Makes a judge for `--judge command` beside a scene. Its last turn is repeated. */
export function makeFakeJudge(scene: Scene, turns: readonly (JudgeTurn | string)[]): FakeJudge {
  const folder = join(dirname(scene.folder), 'bin', 'judge');
  mkdirSync(folder);
  turns.forEach((turn, at) => {
    const {
      answer = '',
      shell = '',
      exitCode = 0,
    } = typeof turn === 'string' ? { answer: turn } : turn;
    writeFileSync(join(folder, `answer-${at + 1}`), answer);
    writeFileSync(join(folder, `shell-${at + 1}`), `${shell}\n`);
    writeFileSync(join(folder, `exit-${at + 1}`), String(exitCode));
  });
  const program = join(folder, 'judge.sh');
  writeFileSync(
    program,
    `#!/bin/sh
D='${folder}'
n=1
while [ -e "$D/prompt-$n" ]; do n=$((n + 1)); done
cat > "$D/prompt-$n"
nonce=$(tail -n 1 "$D/prompt-$n" | sed 's/^nonce: //')
first=$(tail -n 1 "$D/prompt-1" | sed 's/^nonce: //')
while [ ! -e "$D/answer-$n" ]; do n=$((n - 1)); done
. "$D/shell-$n"
sed -e "s/NONCE/$nonce/g" -e "s/FIRST/$first/g" "$D/answer-$n"
exit "$(cat "$D/exit-$n")"
`,
  );
  chmodSync(program, 0o755);
  return {
    args: ['--judge', 'command', '--judge-command', program],
    prompts() {
      const calls = readdirSync(folder).filter((name) => name.startsWith('prompt-')).length;
      return Array.from({ length: calls }, (_, at) =>
        readFileSync(join(folder, `prompt-${at + 1}`), 'utf8'),
      );
    },
  };
}

/** An answer that calls criteria by words, each with the same place. */
export function verdict(
  words: Readonly<Record<string, string>>,
  where: readonly object[] = [{ file: 'a.txt', line: 1 }],
  nonce = 'NONCE',
): string {
  const criteria = Object.entries(words).map(([id, word]) => ({
    ...{ id, verdict: word, evidence: `what shows ${id}`, where },
  }));
  return `I have read it.\n${JSON.stringify({ nonce, criteria })}\n`;
}

/** Whether the checkout of a judge is there. */
export function hasJudgeCheckout({ folder }: Scene): boolean {
  return existsSync(`${folder}.ralph`);
}
