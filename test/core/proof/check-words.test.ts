import { describe, expect, test } from 'vitest';
import { runOf } from '../../../src/core/proof/check-words.ts';

describe('files that a check runs', () => {
  test.for<[line: string, ...files: string[]]>([
    ['./check.sh', './check.sh'],
    ['tools/check --fast', 'tools/check'],
    ['/opt/check', '/opt/check'],
    ['"./my check.sh" x', './my check.sh'],
    ['A=1 B="2 3" ./check.sh', './check.sh'],
    ['./a && ./b; ./c | ./d || ./e & ./f', './a', './b', './c', './d', './e', './f'],
    ['(cd x && ./a)', './a'],
    ['if ./a; then ./b; else ./c; fi', './a', './b', './c'],
    ['! ./a', './a'],
    ['while ./a; do ./b; done', './a', './b'],
    ['x=$(./a) && echo `./b`', './a', './b'],
    ['time -p ./a', './a'],
    ['env -u X A=1 ./a', './a'],
    ['env -i -C sub ./a', './a'],
    ['timeout -k 5 60s ./a', './a'],
    ['nice -n 5 ./a', './a'],
    ['exec ./a', './a'],
    ['sudo -u me sh a.sh', 'a.sh'],
    ['sh check.sh', 'check.sh'],
    ['sh -eu check.sh arg.sh', 'check.sh'],
    ['bash -euo pipefail check.sh', 'check.sh'],
    ['bash --norc check.sh', 'check.sh'],
    ['/bin/sh check.sh', '/bin/sh', 'check.sh'],
    ['sh < check.sh', 'check.sh'],
    ['flock -w 5 lock sh check.sh', 'check.sh'],
    ['busybox sh check.sh', 'check.sh'],
    ['dart run tools/check.dart', 'tools/check.dart'],
    ['sh -c "./a && sh b.sh"', './a', 'b.sh'],
    ["bash -lc 'set -e; ./a'", './a'],
    ["bash -euo pipefail -c './a'", './a'],
    ["sh -c 'sh -c ./a'", './a'],
    ['eval "./a" b', './a'],
    ['. ./env.sh && source lib.sh', './env.sh', 'lib.sh'],
    ['node tools/judge.mjs out.json', 'tools/judge.mjs'],
    ['node --import ./setup.mjs -r dotenv judge.mjs', './setup.mjs', 'judge.mjs'],
    ['node --require=./setup.cjs --test a.test.js', './setup.cjs'],
    ['node --test --import ./setup.mjs', './setup.mjs'],
    ['node --test --test-reporter=./reporter.mjs', './reporter.mjs'],
    ['NODE_OPTIONS="--require ./setup.cjs" npm test', './setup.cjs'],
    ['cross-env NODE_OPTIONS=--import=./setup.mjs vitest', './setup.mjs'],
    ['python3.12 -W error tools/check.py', 'tools/check.py'],
    ['python -m tools.check', 'tools/check.py', 'tools/check/__main__.py'],
    ['ruby -I lib check.rb', 'check.rb'],
    ['tsx check.ts', 'check.ts'],
    ['deno run -A check.ts', 'check.ts'],
    ['bun run check.ts', 'check.ts'],
    ['npx tsx check.ts', 'check.ts'],
    ['npx -p tsx tsx check.ts', 'check.ts'],
    ['npm exec -- tsx check.ts', 'check.ts'],
    ["npx -c './a'", './a'],
    ['uv run --with x check.py', 'check.py'],
    ['poetry run python check.py', 'check.py'],
    ['coverage run check.py', 'check.py'],
    ['make -f build/rules -C x all', 'build/rules'],
    ['"$PWD"/check.sh', './check.sh'],
    ['$(pwd)/check.sh', './check.sh'],
    ['concurrently "npm run lint" "./a b"', './a'],
    ['./a > out.txt 2>&1', './a'],
    ['>out.txt 2>&1 ./a', './a'],
    ['./a \\\n  && ./b', './a', './b'],
    [`D=tools; E=$D/x && sh "\${E}/a.sh"`, 'tools/x/a.sh'],
    ['D=$PWD/tools; . $D/a.sh', './tools/a.sh'],
    ['for f in a.sh b.sh; do sh $f; done', 'a.sh', 'b.sh'],
    ['cat <<EOF\nx\nEOF\n./a', './a'],
  ])('%s', ([line, ...files]) => {
    expect(runOf(line).files).toEqual(files);
  });

  test('a program of JavaScript may leave its ending away', () => {
    expect(runOf('node tools/judge').files).toContain('tools/judge.js');
    expect(runOf('node .').files).toContain('./index.js');
    expect(runOf('sh tools/judge').files).toEqual(['tools/judge']);
  });

  test.for([
    'grep -q ok report.md',
    'test -f out/report.md && [ -s out/report.md ]',
    'cat a/b | head -1 > c/d',
    'npm test',
    'npx vitest run src/a.test.ts',
    'node --test test/a.test.js',
    'node -e "1" a.js',
    'python -c "x" a.py',
    'bun test a.ts',
    'echo ./a',
    'echo "; ./a"',
    "echo '&& ./a'",
    '# ./a',
    '$CHECK/run.sh',
    './*.sh',
    '~/check.sh',
    'sh "$1"',
    'sh -s',
    'true && exit 1',
    '',
  ])('none: %s', (line) => {
    expect(runOf(line).files).toEqual([]);
  });
});

describe('programs that a check runs', () => {
  test.for<[line: string, ...programs: string[]]>([
    ['npm test', 'npm'],
    ['A=1 npx --yes vitest run', 'npx', 'vitest'],
    ['time env -i timeout 5 pytest -q', 'env', 'timeout', 'pytest'],
    ['cd a && cargo test | tee log', 'cargo', 'tee'],
    ['sh -c "make && ./a"', 'sh', 'make'],
    ['python3 -m pytest', 'python3'],
    ['g++ a.cc', 'g++'],
    ['$RUNNER x', ...[]],
    ['./a', ...[]],
    ['export A=1; set -e; exit 0', ...[]],
  ])('%s', ([line, ...programs]) => {
    expect(runOf(line).programs).toEqual(programs);
  });
});

describe('words that may name scripts', () => {
  test.for<[line: string, ...words: string[]]>([
    ['npm run lint', 'run', 'lint'],
    ['turbo run test lint --filter web', 'run', 'test', 'lint', '--filter', 'web'],
    ['npx turbo run test', 'run', 'test'],
    ['concurrently "npm run a"', 'npm run a', 'run', 'a'],
    ['grep -q test report.md', ...[]],
    ['test -f build', ...[]],
    ['cd test && npm t', 't'],
  ])('%s', ([line, ...words]) => {
    expect(runOf(line).words).toEqual(words);
  });
});

test('folders that a check works in', () => {
  const folders = (line: string) => runOf(line).folders;
  expect(folders('cd a && npm test')).toEqual(['a']);
  expect(folders('(pushd a/b; make)')).toEqual(['a/b']);
  expect(folders('npm --prefix web test && make -C c && pnpm --dir=d test')).toEqual([
    'web',
    'c',
    'd',
  ]);
  expect(folders('cd "$X" && npm test')).toEqual([]);
});

describe('a line that nobody writes is read at once', () => {
  test.for([
    '$(',
    '(',
    '`',
    'eval ',
    'env ',
    'npx -c ',
    'npx -c "a" ',
    'concurrently "a b" ',
    'sh -c ',
    'A=$A$A; ',
    'for a in $a $a; do b; ',
  ])('%s', (part) => {
    expect(runOf(`${part.repeat(100_000)}./a`).files).toEqual([]);
  });

  test('but what it begins with is known', () => {
    expect(runOf(`./a ${'x '.repeat(100_000)}`).files).toEqual(['./a']);
    expect(runOf(`${'env '.repeat(20)}./a`).files).toEqual(['./a']);
  });
});

test.for<[line: string, ...hidden: string[]]>([
  ['sh "$D/check.sh"', '$D/check.sh'],
  ['D=$(pwd)/x; sh "$E/check.sh"', '$E/check.sh'],
  ['for f in checks/*.sh; do sh "$f"; done', 'checks/*.sh'],
  ['while read f; do sh "$f"; done < list', '$f'],
  ['$RUN x && sh -c "$CMD"', '$RUN', '$CMD'],
  ['./*.sh', './*.sh'],
  ['sh tools/{a,b}.sh', 'tools/{a,b}.sh'],
  ['cat tools/a.sh | sh', 'sh'],
  ['ls tools/* | xargs -n1 bash', 'bash'],
  ['sh a.sh && bash -c ./b && zsh < c.sh && sh --version', ...[]],
  ['D=tools; sh $D/check.sh', ...[]],
  ['npm test -- src/*.test.js && pytest tests/$X', ...[]],
  ['perl -ne "print $_" a && grep $X b', ...[]],
  ['"$(npm bin)/vitest" run && sh "$PWD/a.sh"', ...[]],
])('words that hide what runs: %s', ([line, ...hidden]) => {
  expect(runOf(line).hidden).toEqual(hidden);
});
