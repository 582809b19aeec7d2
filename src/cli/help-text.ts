import { type Argument, type Command, Help } from 'commander';

const SETTING_UP = 'Set up and clean up:';

/** The commands, grouped by purpose, with examples that run unchanged. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'Run a task:': {
    run: [
      'ralph run "Fix the failing tests" --verify "npm test" --edit',
      'ralph run --prompt-file plan.md --plan-file plan.md --edit',
      'ralph run "Write the report" --until "test -s report.md" --edit',
    ],
    resume: ['ralph resume', 'ralph resume nightly --max-iterations +5 --timeout +30m'],
    demo: ['ralph demo'],
    work: [
      'ralph work prd.json --verify "npm test" --edit',
      'ralph work plan.md --dry-run',
      'ralph work github --label agent --verify "npm test" --edit',
    ],
  },
  'Look at it:': {
    status: ['ralph status', 'ralph status --watch', 'ralph status nightly --json'],
    logs: ['ralph logs nightly --follow', 'ralph logs nightly --iteration 3 --raw'],
    diff: ['ralph diff nightly', 'ralph diff nightly 3..5 --stat'],
    snapshots: ['ralph snapshots nightly'],
    proof: [
      'ralph proof nightly',
      'ralph proof nightly --again',
      'ralph proof proof.json --repo . --again',
    ],
    judge: [
      'ralph judge nightly --judge codex',
      'ralph judge nightly --judge codex --criterion "README names the flag"',
    ],
    report: ['ralph report --since 24h', 'ralph report --html report.html'],
  },
  'Steer it:': {
    stop: ['ralph stop nightly'],
    pause: ['ralph pause nightly'],
    tell: ['ralph tell nightly "The parser is in src/parse.ts"'],
    approvals: ['ralph approvals'],
    approve: ['ralph approve nightly'],
    reject: ['ralph reject nightly --reason "Not before Monday"'],
    undo: ['ralph undo nightly', 'ralph undo nightly 3 --yes', 'ralph undo nightly --redo'],
    progress: ['ralph progress nightly --total 5 --done 2 --step "writing tests"'],
    land: ['ralph land fix-login', 'ralph land fix-login --patch fix-login.patch'],
    check: ['ralph check nightly', 'ralph check --hook'],
  },
  'Work through a vault:': {
    rescue: ['ralph rescue --vault ~/vault'],
    watch: ['ralph watch --vault ~/vault --start-new --concurrency 2'],
  },
  'Work with a fleet:': {
    submit: [
      'ralph submit --repo https://example.com/app.git -p "Fix the login"',
      'ralph submit --batch tasks.jsonl --dry-run',
    ],
    worker: ['ralph worker --slots 4 --policy policy.yaml', 'ralph worker --until-empty'],
    fleet: [
      'ralph fleet init --fleet postgres://ralph@db.example.org/fleet',
      'ralph fleet status --watch',
      'ralph fleet account work --pause 2h',
    ],
  },
  [SETTING_UP]: {
    init: ['ralph init'],
    doctor: ['ralph doctor'],
    trust: ['ralph trust', 'ralph trust --revoke'],
    completion: ['ralph completion bash >> ~/.bashrc', 'ralph completion fish | source'],
    prune: ['ralph prune --older-than 30d --dry-run'],
  },
};

const EXAMPLES = [
  'ralph demo',
  'ralph run "Fix the failing tests" --verify "npm test" --edit',
  'ralph status --watch',
];

/** Groups the commands of a program, and adds examples to the help of each. */
export function arrangeHelp(program: Command): void {
  program
    .commandsGroup(SETTING_UP)
    .helpCommand('help [command]', 'print this help, or the help of one command')
    .configureHelp({
      helpWidth: 80,
      // No `[options]` here: the help of each command lists its flags.
      subcommandTerm: (command) =>
        [command.name(), ...command.registeredArguments.map(termOf)].join(' '),
      visibleCommands: (command) => new Help().visibleCommands(command).sort(byOrder),
    })
    .addHelpText('after', examples(EXAMPLES));
  for (const [heading, group] of Object.entries(COMMANDS)) {
    for (const [name, lines] of Object.entries(group)) {
      const command = program.commands.find((each) => each.name() === name);
      command?.helpGroup(heading).addHelpText('after', examples(lines));
    }
  }
}

const ORDER = Object.values(COMMANDS).flatMap((group) => Object.keys(group));

function byOrder(one: Command, other: Command): number {
  const place = (command: Command): number => ORDER.indexOf(command.name()) + 1 || ORDER.length + 1;
  return place(one) - place(other);
}

function termOf(argument: Argument): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
}

function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
