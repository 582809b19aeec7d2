// Made from the table of settings by `npm run docs`.

import type { AgentName } from '../core/agent/agents/agents.ts';

/** A shell command that has to exit 0 before a claim is accepted, and its name in what ralph says. */
export interface NamedCheck {
  readonly name: string;
  readonly command: string;
}

/** A text for every agent, several as `AGENT=TEXT`, or a text for each agent of a list. */
type AgentTexts = string | readonly string[] | Readonly<Partial<Record<AgentName, string>>>;

/** The settings of a task, under the names of the flags in camelCase; see docs/settings.md. */
export interface SettingOptions {
  /** `--prompt`: the task; "-" reads it from standard input. */
  readonly prompt?: string;
  /** `--prompt-file`: a file with the task, read again for each iteration. */
  readonly promptFile?: string;
  /** `--task-file`: a file of the vault to work on; it moves to In_Progress, and to Done when it is complete. */
  readonly taskFile?: string;
  /** `--promise`: the words by which the agent states that the task is complete (TASK_COMPLETE if no condition is given). */
  readonly promise?: string;
  /** `--match`: where the promise must be: at the end, in its tags or bare; at the end, in its tags only; or anywhere (default: statement). */
  readonly match?: 'statement' | 'tag' | 'contains';
  /** `--watch-glob`: complete when a new or changed file matches. */
  readonly watchGlob?: string | readonly string[];
  /** `--watch-existing`: also count files that matched before the task began. */
  readonly watchExisting?: boolean;
  /** `--watch-file`: complete when this file has been moved to the done folder. */
  readonly watchFile?: string;
  /** `--done-folder`: where the watched file is moved to (default: Done in the vault). */
  readonly doneFolder?: string;
  /** `--until`: complete when this shell command exits 0 after an iteration. */
  readonly until?: string;
  /** `--plan-file`: complete when every checkbox in this Markdown file is ticked. */
  readonly planFile?: string;
  /** `--confirm`: accept completion only if it is claimed in N iterations in a row (default: 1). */
  readonly confirm?: number;
  /** `--min-iterations`: accept no completion before iteration N (default: 1). */
  readonly minIterations?: number;
  /** `--protect`: accept no completion if a file that matched at the start has changed. */
  readonly protect?: string | readonly string[];
  /** `--accept-refused`: refused tools that do not block completion, such as "Bash(git push:*)", or * for all. */
  readonly acceptRefused?: string | readonly string[];
  /** `--abort-promise`: end the task as failed when the agent states this. */
  readonly abortPromise?: string;
  /** `--ask-back`: ask claude, in its own session, whether it is done if it states the promise, but not as its last line; `false` does not (default: true). */
  readonly askBack?: boolean;
  /** `--verify`: accept completion only if this shell command exits 0. */
  readonly verify?: string | readonly (string | NamedCheck)[];
  /** `--verify-each`: run the checks of --verify after each iteration that ended well, not only on a claim. */
  readonly verifyEach?: boolean;
  /** `--baseline`: run each check once before the first iteration, to know how it ended at the start; `false` does not (default: on with --proof hold or strict and with --known-failures allow). */
  readonly baseline?: boolean;
  /** `--known-failures`: whether a check counts as passed that fails only with tests that failed before the first iteration (default: refuse). */
  readonly knownFailures?: 'refuse' | 'allow';
  /** `--proof`: what a finding against a claim does: it is told, or it holds the claim; strict also holds a claim whose checks passed before the work as they do now (default: tell). */
  readonly proof?: 'tell' | 'hold' | 'strict';
  /** `--verify-clean`: run the checks of a claim once more, in a fresh checkout of its tree. */
  readonly verifyClean?: boolean;
  /** `--accept-empty`: accept a claim although nothing was changed, for a task whose result is the message itself. */
  readonly acceptEmpty?: boolean;
  /** `--accept-changed`: files that decide what a check says and that the task is meant to change. */
  readonly acceptChanged?: string | readonly string[];
  /** `--accept-fewer`: accept a claim although fewer tests ran than at the start, or the plan has fewer boxes. */
  readonly acceptFewer?: boolean;
  /** `--accept-failed`: accept checks that end with 0 although their test runner says that tests failed. */
  readonly acceptFailed?: boolean;
  /** `--plan-section`: count only the boxes of the plan file under headings of this name. */
  readonly planSection?: string | readonly string[];
  /** `--judge`: an agent that reads a claimed tree and may hold the claim, once everything else has passed: claude, codex, gemini, opencode, qwen, command. */
  readonly judge?: string;
  /** `--no-judge`: without the judge; also for ralph resume. */
  readonly noJudge?: boolean;
  /** `--judge-command`: the command of --judge command, split into words as a shell does; it reads the prompt on standard input and prints its answer. */
  readonly judgeCommand?: string;
  /** `--criterion`: something that the judge looks for in the claimed tree (default: everything that the task asks for). */
  readonly criterion?: string | readonly string[];
  /** `--criteria`: a file with criteria, read once: one for each list item, or for each line if it has no list. */
  readonly criteria?: string;
  /** `--judge-rounds`: how many claims the judge may hold; the next one that it would hold ends the task (default: 3). */
  readonly judgeRounds?: number;
  /** `--max-iterations`: iterations before it gives up (default: 5). With `resume`, `'+5'` adds to what the task has used. */
  readonly maxIterations?: number | `+${number}`;
  /** `--iteration-timeout`: time for one iteration (default: 180s). Milliseconds, or a text such as `'30m'`. */
  readonly iterationTimeout?: number | string;
  /** `--idle-timeout`: how long the agent may be silent (default: no limit). Milliseconds, or a text such as `'30m'`. */
  readonly idleTimeout?: number | string;
  /** `--timeout`: time for the whole task (default: 30m). Milliseconds, or a text such as `'30m'`. With `resume`, `'+30m'` adds to what the task has used. */
  readonly timeout?: number | string;
  /** `--delay`: pause between iterations (default: 2s). Milliseconds, or a text such as `'30m'`. */
  readonly delay?: number | string;
  /** `--max-cost`: money for the whole task, in US dollars. With `resume`, `'+5'` adds to what the task has used. */
  readonly maxCost?: number | `+${number}`;
  /** `--max-cost-per-day`: money for all tasks of the vault since midnight, in US dollars. */
  readonly maxCostPerDay?: number;
  /** `--max-usage`: stop when this much of the account's usage limit is used. */
  readonly maxUsage?: number | `${number}%`;
  /** `--no-progress-limit`: iterations without progress before it stops; 0 never stops (default: 3). */
  readonly noProgressLimit?: number;
  /** `--same-error-limit`: iterations that fail with the same error before it stops; 0 never stops (default: 3). */
  readonly sameErrorLimit?: number;
  /** `--retries`: quick retries after a temporary error, before one every 5 minutes (default: 5). */
  readonly retries?: number;
  /** `--max-wait`: how long a usage limit or an outage is waited for; 0 does not wait (default: 6h). Milliseconds, or a text such as `'30m'`. */
  readonly maxWait?: number | string;
  /** `--task-type`: a set of limits by name: coding, weekly_audit, … (docs/settings.md). */
  readonly taskType?: string;
  /** `--supervise`: end an iteration in which the agent only repeats itself; `false` never does (default: true). */
  readonly supervise?: boolean;
  /** `--same-failing-limit`: repeated calls that failed before an iteration is ended; 0 never ends it (default: 20). */
  readonly sameFailingLimit?: number;
  /** `--same-call-limit`: repeated calls that worked before an iteration is ended; 0 never ends it (default: 100). */
  readonly sameCallLimit?: number;
  /** `--refused-limit`: refused calls, with none that worked in between, before an iteration is ended; 0 never ends it (default: 20). */
  readonly refusedLimit?: number;
  /** `--max-iteration-tokens`: tokens, without those read from the cache, before an iteration is ended (default: no limit). */
  readonly maxIterationTokens?: number;
  /** `--max-subagents`: sub-agents that may start in one iteration; the next one ends it (default: no limit). */
  readonly maxSubagents?: number;
  /** `--agent`: claude, codex, gemini, opencode, qwen, copilot, or any command that reads the prompt on standard input; or a list such as claude,codex: the next one takes over while one is at its limit or out of order (default: claude). */
  readonly agent?: AgentName | readonly AgentName[];
  /** `--agent-bin`: the program of the agent (default: its name on PATH or where its installers put it); AGENT=PATH for one of a list. */
  readonly agentBin?: AgentTexts;
  /** `--agent-command`: the command of --agent command, split into words as a shell does; no shell runs it. */
  readonly agentCommand?: string;
  /** `--model`: the model, as the agent names it (opencode: provider/model); AGENT=NAME for one of a list. */
  readonly model?: AgentTexts;
  /** `--edit`: the agent may edit files in the work folder and run the commands of --verify and --until. */
  readonly edit?: boolean;
  /** `--permission-mode`: acceptEdits or plan for every agent that has them, or a word of the agent itself (codex: workspace-write). */
  readonly permissionMode?: string;
  /** `--allowed-tools`: handed to the agent: tools it may use unasked, such as "Edit,Bash(npm test:*)". */
  readonly allowedTools?: string | readonly string[];
  /** `--dangerously-skip-permissions`: handed to the agent: no permission is asked for anything. */
  readonly dangerouslySkipPermissions?: boolean;
  /** `--session`: whether each iteration starts a new session of the agent or resumes the last one (default: fresh). */
  readonly session?: 'fresh' | 'continue';
  /** `--context`: what of the previous output goes into the next prompt (default: last). */
  readonly context?: 'last' | 'none';
  /** `--context-chars`: how many characters at the end of that output; all hints together have the same limit (default: 20000). */
  readonly contextChars?: number;
  /** `--keep-background`: leave background processes of the agent running at the end. */
  readonly keepBackground?: boolean;
  /** `--sandbox`: keep the agent and the checks in the work folder: other files are read-only, secrets unreadable, and hosts refused; `false` does not (default: off). */
  readonly sandbox?: boolean;
  /** `--allow-write`: a further folder that the agent may write to. */
  readonly allowWrite?: string | readonly string[];
  /** `--allow-net`: a host that the agent and the checks may reach, such as registry.example.org, "*.example.com" or 127.0.0.1:8080 (default: only what the agent needs to answer). */
  readonly allowNet?: string | readonly string[];
  /** `--deny-read`: a file or folder that the agent may not read, besides the dot files of your home; "~" hides all of it. */
  readonly denyRead?: string | readonly string[];
  /** `--allow-read`: a file or folder that it may read all the same; the deeper path wins. */
  readonly allowRead?: string | readonly string[];
  /** `--keep-env`: a variable of the environment that the agent and the checks see although its name or its value is like that of a secret. */
  readonly keepEnv?: string | readonly string[];
  /** `--allow-unix-sockets`: let programs in the sandbox use sockets in the file system. */
  readonly allowUnixSockets?: boolean;
  /** `--sandbox-checks`: run --verify, --until and --setup in the sandbox, too; `false` runs them outside, for those that need Docker (default: true). */
  readonly sandboxChecks?: boolean;
  /** `--snapshots`: keep the files as they are after each iteration, for diff and undo; `false` does not (default: on in a git work tree). */
  readonly snapshots?: boolean;
  /** `--snapshot-limit`: an untracked file larger than this is in no snapshot (default: 50MB). Bytes, or a text such as `'50MB'`. */
  readonly snapshotLimit?: number | string;
  /** `--snapshot-exclude`: files that are in no snapshot. */
  readonly snapshotExclude?: string | readonly string[];
  /** `--worktree`: work in a git work tree of its own, on a new branch ralph/ID. */
  readonly worktree?: boolean;
  /** `--base`: where the branch of --worktree begins (default: HEAD). */
  readonly base?: string;
  /** `--worktree-dir`: the folder of the work trees of --worktree (default: REPOSITORY.ralph beside the repository). */
  readonly worktreeDir?: string;
  /** `--setup`: shell command once in a new work tree, for example "npm ci". */
  readonly setup?: string;
  /** `--copy`: ignored files such as .env to copy into a new work tree. */
  readonly copy?: string | readonly string[];
  /** `--share-worktree`: run even though another task works in the same work tree. */
  readonly shareWorktree?: boolean;
  /** `--commit`: commit what each iteration changed, and nothing else. */
  readonly commit?: boolean;
  /** `--commit-message`: message of these commits; {summary}, {task}, {iteration} and {outcome} are replaced by the facts. */
  readonly commitMessage?: string;
  /** `--protect-branch`: a branch that --commit leaves alone (default: main, master, the remote's own). */
  readonly protectBranch?: string | readonly string[];
  /** `--revert-failed`: take back what an iteration changed that was cut off. */
  readonly revertFailed?: boolean;
  /** `--task-id`: name of the task: A-Z a-z 0-9 . _ -, up to 128 (default: words of the prompt and four characters). */
  readonly taskId?: string;
  /** `--vault`: the folder with Needs_Action, Done and .ralph_state (default: the nearest with .ralph_state up to the root of the git work tree, or here). */
  readonly vault?: string;
  /** `--state-dir`: where states and logs are kept (default: .ralph_state in the vault). */
  readonly stateDir?: string;
  /** `--cwd`: the folder the agent works in (default: here). */
  readonly cwd?: string;
  /** `--after`: shell command after each iteration; its outcome as JSON on standard input. */
  readonly after?: string;
  /** `--on-end`: shell command once at the end; the outcome as JSON on standard input. */
  readonly onEnd?: string;
  /** `--no-wait`: end with exit code 6 if an approval is wanted, instead of waiting for it. */
  readonly noWait?: boolean;
  /** `--approval-timeout`: how long an approval is waited for (default: 24h). Milliseconds, or a text such as `'30m'`. */
  readonly approvalTimeout?: number | string;
  /** `--log-limit`: how much output of an iteration its log keeps: the head and the tail (default: 1GB). Bytes, or a text such as `'50MB'`. */
  readonly logLimit?: number | string;
  /** `--prevent-sleep`: keep the machine awake; `false` does not (default: off). */
  readonly preventSleep?: boolean;
  /** `--key-file`: the key by which your tasks are known, for a vault that several machines share (default: your own). */
  readonly keyFile?: string;
}
