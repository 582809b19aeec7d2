/** Why a test does not hold with `--sandbox` on: in each case the sandbox does what it is there for. */
export const REASONS = {
  left: 'what an iteration leaves running ends with it',
  own: 'the sandbox has processes of its own as long as ralph runs',
  driver: 'the agent and the checks reach no process outside, so they cannot kill their driver',
  fixed: 'what the agent would change or remove is held by the sandbox',
  outside: 'what the agent or a check would write, or a terminal, lies outside of the work folder',
  vault: 'folders that the agent may write to are made at the start',
  told: 'the prompt, the arguments and the variables of the agent have more in them',
  code: 'of a program that a signal ended inside, only an exit code is known outside',
  tools: 'the programs of the sandbox have to be on PATH',
  link: 'a vault that is named through a link in the work folder is refused',
  doctor: 'ralph doctor starts no agent that lies where agents may write',
  itself: 'it turns the sandbox on and off itself',
  later: 'ralph judge refuses a task that runs in the sandbox',
} as const;

/**
 * A reason, and the tests or suites of tests that it holds for, by their full names. Without a name it holds for
 * the whole file.
 */
type Entry = readonly [reason: keyof typeof REASONS, ...names: readonly string[]];

/** The end-to-end tests that are skipped with `--sandbox` on. All others have to pass. */
export const NOT_IN_SANDBOX: Readonly<Record<string, readonly Entry[]>> = {
  'test/e2e/after.test.ts': [['fixed', 'ralph tell > reaches the next prompt, once']],
  'test/e2e/approvals.test.ts': [
    [
      'own',
      'a loop that asks > a loop that asks waits with nothing running, and goes on once the file is moved to Approved',
    ],
    [
      'left',
      'a loop that asks > what the agent left in the background is ended before it waits',
      'a loop that asks > with --keep-background a background process stays while the loop waits',
      'ralph approve and ralph reject > a background process of the agent cannot either',
    ],
    [
      'fixed',
      'a loop that asks > a file that the agent puts into Approved is no answer, until the request is moved over it',
      'ralph approve and ralph reject > what the agent had put there is kept beside',
    ],
  ],
  'test/e2e/background.test.ts': [
    [
      'left',
      'an agent that does not go > a grandchild keeps its output open: accepted all the same, and ended with the task',
      'a server that an iteration left running',
    ],
  ],
  'test/e2e/bad-ground.test.ts': [
    [
      'fixed',
      'while the loop runs > the state is changed from outside: overwritten, and said',
      'while the loop runs > the state is made nonsense from outside: overwritten, and said',
      'while the loop runs > the state is replaced by another from outside: overwritten, and said',
    ],
  ],
  'test/e2e/clean-checkout.test.ts': [
    [
      'left',
      'a server that the agent left running is ended before, so that the check fails there',
      'a server that the agent left running is kept with --keep-background',
    ],
  ],
  'test/e2e/commit.test.ts': [
    [
      'fixed',
      '--commit > does not run a hook that the agent has changed',
      '--commit > does not run a filter that the agent has changed',
      '--commit > does not run a setting that the agent has changed',
      '--commit > remembers over a resume how git was set up when the task began',
    ],
    [
      'driver',
      '--commit > a driver killed in pre-commit commits once',
      '--commit > a driver killed in post-commit commits once',
    ],
  ],
  'test/e2e/environment.test.ts': [
    [
      'told',
      'the environment of the agent > is the caller’s otherwise, without what would make it believe to be inside another agent',
    ],
    ['fixed', 'the environment of the agent > a loop inside a loop has both names, each its own'],
  ],
  'test/e2e/exam-kills.test.ts': [['outside']],
  'test/e2e/failures.test.ts': [
    [
      'code',
      'any other failure: the iteration counts, and the loop goes on > killed by another hand',
    ],
  ],
  'test/e2e/faults.test.ts': [['driver']],
  'test/e2e/findings.test.ts': [
    [
      'outside',
      'an agent that takes the easy way > a new runner configuration that excludes all tests: told by default',
      'an agent that takes the easy way > a new runner configuration that excludes the red test: told by default',
      'an agent that takes the easy way > a new runner configuration that excludes all tests: held under --proof hold',
      'an agent that takes the easy way > a new runner configuration that excludes the red test: held under --proof hold',
    ],
  ],
  'test/e2e/gates.test.ts': [
    [
      'fixed',
      '--protect > the agent’s own judge, changed: not believed until it is put back',
      '--protect > the agent’s own judge, deleted: not believed until it is put back',
      '--protect > holds a claim by a command too',
      'the gates in their order: each holds before the next is asked',
    ],
  ],
  'test/e2e/honest-work.test.ts': [
    ['outside', 'honest work > is not held up: new tests with a configuration of their own'],
  ],
  'test/e2e/hostile-input.test.ts': [
    ['fixed', 'hints that an agent leaves in masses make no long prompt'],
  ],
  'test/e2e/judge-answers.test.ts': [
    ['driver', 'a kill while the judge works costs no iteration'],
    ['later', 'ralph judge > judges the final tree of a task without a judge, and changes nothing'],
  ],
  'test/e2e/moved.test.ts': [
    [
      'fixed',
      'a folder that was moved > a moved folder is protected as before',
      'patterns that are given anew > protect from now on',
      'patterns that are given anew > protect what was deleted meanwhile: test',
      'patterns that are given anew > protect what was deleted meanwhile: test/**',
    ],
  ],
  'test/e2e/named-work-tree.test.ts': [
    ['outside', 'a rewritten judge is held > from a folder below, by the top that git names'],
  ],
  'test/e2e/own-files.test.ts': [
    ['fixed', '--protect > watches over a folder', '--protect > watches over a hidden folder'],
    ['vault', 'a vault that cannot be made is said, and nothing spins'],
  ],
  'test/e2e/progress.test.ts': [
    ['fixed', 'ralph progress > is reported from inside the loop, and stands in state and status'],
  ],
  'test/e2e/proof.test.ts': [
    [
      'fixed',
      'a completed task with checks > that cannot write its proof says so, and is completed all the same',
    ],
    ['driver', 'ralph proof ID --again > removes the checkout that a killed one has left'],
  ],
  'test/e2e/resume.test.ts': [
    [
      'left',
      'what the driver left when it died > an agent that runs on, its guard dead too: ended before the next one starts',
    ],
  ],
  'test/e2e/run-agent.test.ts': [
    [
      'told',
      'the arguments of claude > without any wish: what ralph needs, and nothing that skips permissions',
      'the arguments of claude > all that can be asked for',
      'the arguments of claude > what stands after -- comes last and unchanged',
      'the environment of the agent',
    ],
    ['tools', "an agent that cannot work > beside PATH its installers' folders are looked at"],
  ],
  'test/e2e/run-conditions.test.ts': [
    ['outside', '--watch-glob > a pattern: from above'],
    ['vault', '--watch-file > is looked up in the vault first, then where the agent works'],
  ],
  'test/e2e/run-output.test.ts': [
    ['vault', 'the state folder > stands in the vault, and the agent works elsewhere'],
  ],
  'test/e2e/run-promise.test.ts': [['told', 'the agent promises on its third call']],
  'test/e2e/run-prompt.test.ts': [
    ['vault', 'a prompt arrives byte for byte > 1 MB of anything, from a file'],
    [
      'fixed',
      'a prompt file > is read afresh each iteration',
      'a prompt file > deleted meanwhile: the last text is used, and said',
      'a prompt file > emptied meanwhile: the last text is used, and said',
      'a prompt file > blanked meanwhile: the last text is used, and said',
      'a prompt file > grown over 1 MB meanwhile: the last text is used, and said',
      'a prompt file > replaced by a folder meanwhile: the last text is used, and said',
    ],
  ],
  'test/e2e/sandbox-settings.test.ts': [['itself']],
  'test/e2e/setup.test.ts': [
    ['doctor', 'init, then doctor, then a run that finds the folders and the settings'],
  ],
  'test/e2e/steering.test.ts': [
    ['fixed', 'inside the loop > another task of the same vault may be stopped'],
  ],
  'test/e2e/task-file.test.ts': [
    ['told', 'a task file > its text is material, in which no @ pulls in a file'],
    ['link', 'a task file > a vault that is named through a link'],
  ],
  'test/e2e/terminal.test.ts': [
    ['outside', 'the last screen of a run > after a change of its size'],
  ],
  'test/e2e/trust.test.ts': [
    [
      'driver',
      'a task of one’s own that a pass continues > a task that a pass goes on with has no more permissions than the pass',
      'a task of one’s own that a pass continues > a task that a pass goes on with keeps its gates; a missing one leaves it to a person',
    ],
    [
      'fixed',
      'an agent that may edit files, and nothing more > lifts no gate while the loop runs: the driver puts its files back, and says so',
      "an agent that may edit files, and nothing more > a hint that the agent leaves as a file is not presented as a person's",
      'an agent that may edit files, and nothing more > a link in place of the state folder makes ralph write nothing outside',
    ],
  ],
  'test/e2e/undo.test.ts': [
    [
      'fixed',
      'ralph undo > brings back every kind of file byte for byte, but what git ignores',
      'ralph undo > names a submodule whose own repository is gone, and exits 1',
      'where the agent deleted the folder that it worked in, that comes back, too',
    ],
  ],
  'test/e2e/undo-keeps.test.ts': [
    [
      'outside',
      'an undo leaves alone > the target of a link that took the place of a folder',
      '--hard > moves the branch of a repository whose .git lies elsewhere, as that of a submodule',
    ],
    ['fixed', 'no program that the repository names is run by diff, undo or snapshots'],
  ],
  'test/e2e/worktree.test.ts': [
    [
      'outside',
      'a work tree of its own > is where the checks, the globs and --cwd are meant, but not the prompt file',
    ],
  ],
};
