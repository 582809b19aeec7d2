import { answers, overloaded, type ShellTurn } from './replayed-claude.ts';

/** A task whose driver is killed again and again. */
export interface FaultScenario {
  readonly turns: readonly (ShellTurn | readonly [ShellTurn, ShellTurn])[];
  readonly args: readonly string[];
  /** Files of the vault that are there at first, by their paths. */
  readonly files?: Readonly<Record<string, string>>;
  /** Whether later drivers are started by the very same line, as cron does, rather than by `resume`. */
  readonly isCron?: boolean;
  /** The first driver that is worth killing, if another than that of the run: those before it die by themselves. */
  readonly firstVictim?: number;
}

const HINT = 'tell-20260101000000000-0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a.md';
/** What `ralph tell` leaves, at most once in however many tries. */
const TELL = `[ -e told ] || { mkdir -p .ralph_state/t/requests; echo 'Mind the tests.' > hint; mv hint .ralph_state/t/requests/${HINT}; : > told; }`;

const PAUSE = 'sleep 0.02';
const COMMON = ['--prompt', 'Fix it', '--no-progress-limit', '0', '--delay', '0'];

/** Kills the driver once it has the result in its log: the call has to be paid for all the same. */
const KILL_DRIVER =
  'until grep -q total_cost_usd .ralph_state/t/iteration-0002.stdout.log; do sleep 0.01; done; kill -9 $PPID';

export const FAULT_SCENARIOS: Readonly<Record<string, FaultScenario>> = {
  'near misses, a fault, a hint, a gate, --after': {
    turns: [
      answers("I will say TASK_COMPLETE when it's done.", TELL),
      [overloaded(), answers('Half of it is done.', `${PAUSE}; complain 'a warning'`)],
      answers('All done.\n\nTASK_COMPLETE', PAUSE),
      answers('Now it is done.\n\nTASK_COMPLETE', 'echo x > proof'),
    ],
    args: [
      ...COMMON,
      ...[
        '--verify',
        'cat proof',
        '--after',
        'read -r event; echo "$RALPH_ITERATION" >> after.log',
      ],
    ],
  },
  'a watched file, with a delay': {
    turns: [answers('Nothing yet.', PAUSE), answers('Written.', `echo x > out.txt; ${PAUSE}`)],
    args: [...COMMON, '--delay', '300ms', '--watch-glob', '*.txt'],
  },
  'a task file, and a person who is asked': {
    files: { 'Needs_Action/letter.md': 'Write the letter.\n' },
    turns: [
      answers('May I?\n\n<approval id="send">send the letter</approval>', PAUSE),
      answers('Sent.\n\nTASK_COMPLETE', PAUSE),
    ],
    args: [...COMMON.slice(2), '--task-file', 'Needs_Action/letter.md', '--no-wait'],
  },
  'the line for cron': {
    turns: [answers('Not yet.', PAUSE), answers('Done.\n\nTASK_COMPLETE', PAUSE)],
    args: [...COMMON, '--on-end', 'cat > end.json'],
    isCron: true,
  },
  'iterations that run out': {
    turns: [answers('Not yet.', PAUSE), answers('Still not.')],
    args: [...COMMON, '-n', '2'],
  },
  'a resume after a kill': {
    turns: [
      answers('Not yet.'),
      [`${answers('Nearly.')}\n${KILL_DRIVER}`, answers('Half of it.')],
      answers('Done.\n\nTASK_COMPLETE'),
    ],
    args: COMMON,
    firstVictim: 1,
  },
};

export function faultScenario(name: string): FaultScenario {
  const found = FAULT_SCENARIOS[name];
  if (found === undefined) throw new Error(`no scenario ${name}`);
  return found;
}
