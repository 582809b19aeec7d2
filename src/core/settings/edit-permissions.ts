import { AGENTS, type AgentName } from '../agent/agents/agents.ts';
import { commandsIn } from '../agent/shell-commands.ts';
import type { Settings } from './settings.ts';

/*
 * `--edit` stands for a permission mode and for rules that let an agent run the commands of the checks without asking:
 *
 *   --verify "cd web && npm test" ──► cd web · npm test ──► Bash(cd web:*) · Bash(npm test:*)
 *
 * Only the user's own flags and configuration are read. What an agent or a task file writes never becomes a rule.
 */

type EditSettings = Pick<Settings, 'edit' | 'permissionMode' | 'allowedTools' | 'verify' | 'until'>;

/** What one agent may do without asking. */
export interface Permissions {
  readonly permissionMode: string | null;
  readonly allowedTools: readonly string[];
}

/** Returns the permissions of one agent, including those that `--edit` gives. */
export function permissionsOf(settings: EditSettings, agent: AgentName): Permissions {
  const { edit, permissionMode, allowedTools } = settings;
  if (!edit) return { permissionMode, allowedTools };
  const rules = editRules(settings, agent).allowed.map(({ rule }) => rule);
  return {
    permissionMode: 'acceptEdits',
    allowedTools: [...new Set([...allowedTools, ...rules])],
  };
}

/** Returns a text that says what an agent may do with `--edit`. */
export function describeEdit(settings: EditSettings, agent: AgentName): string {
  const { editsAnd } = AGENTS[agent];
  if (editsAnd !== undefined) return `${agent} may edit files${editsAnd}`;
  const { allowed, left } = editRules(settings, agent);
  const commands = allowed.map(({ command }) => command).join(', ');
  const may = `${agent} may edit files${commands === '' ? '' : ` and run: ${commands}`}`;
  if (left.length === 0) return may;
  return `${may}; no rule of ${agent} allows just '${left.join("' or '")}': add one with --allowed-tools`;
}

/** The flags of `ralph resume` that allow an agent the tool calls that it was refused. */
export interface RefusedRemedy {
  readonly flags: readonly string[];
  /** Refused calls for which ralph knows no flag, so a person has to find the rule. */
  readonly left: readonly string[];
}

/** The names of the tools that edit files, in all agents that have permission modes. */
const EDITS = /^(?:multi|notebook)?edit$|^write(?:_file)?$|^replace$/i;

/**
 * Returns the flags of a resume that allow only these refused calls, such as `Bash: npm test`. A command that begins
 * like a check gets the rule of that check; any other command gets a rule for exactly itself. The flags replace those
 * of the task, so they repeat the rules that the task already has.
 */
export function remedyForRefused(
  refused: readonly string[],
  settings: EditSettings,
  agent: AgentName,
): RefusedRemedy {
  const { commandRule, takes } = AGENTS[agent];
  const { permissionMode, allowedTools } = permissionsOf(settings, agent);
  const checks = checkLines(settings).flatMap(partsOf).map(plainWords);
  const rules = new Set<string>();
  const left = new Set<string>();
  let needsEdits = false;
  for (const call of new Set(refused)) {
    const [tool = '', ...rest] = call.split(': ');
    if (EDITS.test(tool) && permissionMode === null && takes.includes('permissionMode')) {
      needsEdits = true;
      continue;
    }
    const found = partsOf(rest.join(': ')).map((command) => {
      const words = plainWords(command);
      if (words === null) return null;
      const check = checks.find((each) => each?.every((word, index) => word === words[index]));
      const rule = commandRule?.(check ?? words) ?? null;
      if (!rule?.startsWith(`${tool}(`)) return null;
      return check === undefined ? rule.replace(':*)', ')') : rule;
    });
    // If one part of a command stays refused, so does the whole command.
    if (found.includes(null)) left.add(call);
    else for (const rule of found) if (rule !== null) rules.add(rule);
  }
  const added = [...rules].filter((rule) => !allowedTools.includes(rule));
  const tools = added.length === 0 ? [] : [...settings.allowedTools, ...added];
  return {
    flags: [
      ...(needsEdits ? ['--permission-mode acceptEdits'] : []),
      ...tools.map((rule) => `--allowed-tools "${rule}"`),
    ],
    left: [...left],
  };
}

interface EditRules {
  readonly allowed: readonly { readonly command: string; readonly rule: string }[];
  /** Commands that get no rule, because only a shell knows what they run, or the agent has no rules for commands. */
  readonly left: readonly string[];
}

function checkLines({ verify, until }: EditSettings): readonly string[] {
  const own = verify.filter(({ ofItem }) => ofItem !== true);
  return [...own.map(({ command }) => command), ...(until === null ? [] : [until])];
}

function editRules(settings: EditSettings, agent: AgentName): EditRules {
  const { commandRule } = AGENTS[agent];
  const allowed = new Map<string, string>();
  const left = new Set<string>();
  for (const command of checkLines(settings).flatMap(partsOf)) {
    const words = plainWords(command);
    if (words?.length === 0) continue;
    const rule = words === null ? null : (commandRule?.(words) ?? null);
    if (words === null || rule === null) left.add(command);
    else allowed.set(words.join(' '), rule);
  }
  return {
    allowed: [...allowed].map(([command, rule]) => ({ command, rule })),
    left: [...left],
  };
}

/** Splits a command line into its commands. A line with a command substitution, or that cannot be read, stays whole. */
function partsOf(line: string): readonly string[] {
  return /[$<>]\(|`/.test(line) ? [line] : (commandsIn(line) ?? [line]);
}

/** Matches a word without quotes, expansions, redirections, patterns and commas, since these could break a rule. */
const PLAIN = /^[\w%+=:./-][\w@%+=:./-]*$/;
const ASSIGNMENT = /^\w+=/;
/** Keywords of the shell, which start no program. */
const KEYWORDS = /^(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|function|select|in)$/;

/** Returns a command's words without assignments, `!` and `2>&1`; null if only a shell could read them. */
function plainWords(command: string): readonly string[] | null {
  const words = command
    .replace(/^!\s+/, '')
    .replace(/ 2>&1$/, '')
    .split(' ');
  const start = words.findIndex((word) => !ASSIGNMENT.test(word));
  if (words.slice(0, start === -1 ? words.length : start).some((word) => !PLAIN.test(word)))
    return null;
  const own = start === -1 ? [] : words.slice(start);
  const isPlain = own.every((word) => PLAIN.test(word)) && !KEYWORDS.test(own[0] ?? '');
  return isPlain ? own : null;
}
