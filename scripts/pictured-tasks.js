/**
 * The tasks in the picture of the report, in the order they are run: what each turn of the agent does
 * (scripted-claude.js), how many hours ago the task is shown, and how much longer than it was.
 */
export const TASKS = [
  {
    id: 'flaky-tests',
    hoursAgo: 12.5,
    stretch: 900,
    prompt: 'Find out why the checkout tests fail now and then, and make them hold.',
    args: ['--promise', 'TESTS HOLD', '--permission-mode', 'acceptEdits', '-n', '6'],
    turns: [
      {
        delayMs: 700,
        costUsd: 0.62,
        tools: [
          ['Bash', 'npm test'],
          ['Read', 'test/checkout.test.ts'],
        ],
        writes: ['test/clock.ts'],
        text: 'Two tests read the real clock. I gave them a clock of their own; the third is still open.',
      },
      {
        delayMs: 400,
        costUsd: 0.41,
        tools: [['Edit', 'test/cart.test.ts']],
        writes: ['test/cart.test.ts', 'test/clock.ts'],
        text: 'I am not saying TESTS HOLD yet: the run on two workers failed once more.',
      },
      {
        delayMs: 600,
        costUsd: 0.55,
        tools: [
          ['Edit', 'src/cart.ts'],
          ['Bash', 'npm test'],
        ],
        writes: ['src/cart.ts'],
        text: 'The cart shared its id between tests. Fifty runs in a row pass.\n\n<promise>TESTS HOLD</promise>',
      },
    ],
  },
  {
    id: 'weekly-audit',
    hoursAgo: 10.2,
    stretch: 700,
    prompt: 'Write the weekly audit of open orders into Briefings/.',
    args: ['--watch-glob', 'Briefings/*.md', '--permission-mode', 'acceptEdits'],
    turns: [
      { delayMs: 300, costUsd: 0.18, text: 'I have read the orders; the audit comes next.' },
      {
        delayMs: 450,
        costUsd: 0.24,
        tools: [['Write', 'Briefings/week-3.md']],
        writes: ['Briefings/week-3.md'],
        text: 'The audit is in Briefings/week-3.md: 41 orders open, 3 of them overdue.',
      },
    ],
  },
  {
    id: 'esm-migration',
    hoursAgo: 7.5,
    stretch: 1500,
    prompt: 'Move the server to ES modules, one folder at a time.',
    args: ['-n', '5', '--permission-mode', 'acceptEdits', '--no-progress-limit', '0'],
    turns: [
      {
        delayMs: 500,
        costUsd: 0.71,
        writes: ['src/a.ts', 'src/b.ts', 'src/c.ts'],
        text: 'src/routes is moved; 4 folders to go.',
      },
      {
        delayMs: 650,
        costUsd: 0.88,
        writes: ['src/d.ts', 'src/e.ts'],
        text: 'src/orders is moved; 3 folders to go.',
      },
      {
        delayMs: 300,
        costUsd: 0.33,
        tools: [['Bash', 'npm install tsx', true]],
        text: 'I need npm install, which was refused.',
      },
      {
        delayMs: 550,
        costUsd: 0.69,
        writes: ['src/f.ts'],
        text: 'src/mail is moved without it; 2 folders to go.',
      },
      {
        delayMs: 620,
        costUsd: 0.74,
        writes: ['src/g.ts', 'src/h.ts'],
        text: 'src/auth is moved; src/reports is left.',
      },
    ],
  },
  {
    id: 'changelog',
    hoursAgo: 4.1,
    stretch: 500,
    prompt: 'Write the changelog of version 2.4 from the commits.',
    args: ['--promise', 'CHANGELOG READY', '--permission-mode', 'acceptEdits'],
    turns: [
      {
        delayMs: 500,
        costUsd: 0.16,
        writes: ['CHANGELOG.md'],
        text: 'All 34 commits are told in 11 sentences.\n\n<promise>CHANGELOG READY</promise>',
      },
    ],
  },
  {
    id: 'release-2.4',
    hoursAgo: 2.2,
    stretch: 600,
    prompt: 'Prepare release 2.4 and publish it.',
    args: ['--permission-mode', 'acceptEdits', '--no-wait', '--approval-timeout', '7d'],
    turns: [
      {
        delayMs: 450,
        costUsd: 0.37,
        writes: ['package.json', 'release.md'],
        text: 'The package is built and its tests pass.\n\n<approval id="publish">publish version 2.4 to the registry</approval>',
      },
    ],
  },
];
