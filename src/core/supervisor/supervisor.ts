import { isSpent } from '../agent/attempt.ts';
import { remember } from '../agent/bounded-map.ts';
import type { SignFound, SignName } from '../agent/sign.ts';
import { shortTarget } from '../agent/tool-target.ts';
import { preview } from '../secrets/secrets.ts';
import { callKey } from './call-key.ts';

/*
 * Watches what an agent does within one iteration, and finds the signs that it gets nowhere or uses too much.
 * The main agent and each sub-agent have their own counts:
 *
 *                              same-failing-call   same-call    refused
 *   a call failed as before           + 1
 *   a call worked as before                           + 1          0
 *   a call was refused                                            + 1
 *   a new call worked                  0               0          0     (new: not called before)
 *
 * "Before" means since the last time that a new call worked. At a quarter of its limit a sign is reported (`told`), but
 * only once until a new call works. At its limit the agent is ended (`cut`).
 */

/** What an agent did, according to the events that it reports while it works. */
export type AgentDeed =
  | {
      readonly kind: 'called';
      readonly id: string;
      /** Id of the tool call that started the sub-agent; null for the main agent. */
      readonly by: string | null;
      readonly tool: string;
      readonly input: Readonly<Record<string, unknown>> | null;
    }
  | {
      readonly kind: 'answered';
      readonly id: string;
      readonly how: 'succeeded' | 'failed' | 'refused';
    }
  /** Further tokens: input and output, without input that was read from a cache. */
  | { readonly kind: 'used'; readonly tokens: number }
  /** Further US dollars of this attempt. */
  | { readonly kind: 'spent'; readonly costUsd: number }
  | { readonly kind: 'sub-agent-started'; readonly id: string };

/** The limit of each sign in one iteration. Null turns a sign off. */
export interface SignLimits {
  readonly sameFailing: number | null;
  readonly sameCall: number | null;
  readonly refused: number | null;
  readonly tokens: number | null;
  /** How many sub-agents may start; the next one is too many. */
  readonly subAgents: number | null;
  /** What is left of the task's budget, in US dollars. */
  readonly moneyUsd: number | null;
}

/** How many calls and sub-agents are remembered. Agents hardly reach these numbers; a forgotten one counts as new. */
const REMEMBERED_CALLS = 1_000;
const REMEMBERED_SUB_AGENTS = 100;
const REMEMBERED_STARTS = 1_000;
const REMEMBERED_OPEN_CALLS = 500;

const MAX_DETAIL_CHARS = 120;
/** How much of a call's text is kept. It is more than is shown, since masking and folding shorten it first. */
const KEPT_CHARS = 8 * MAX_DETAIL_CHARS;

/** The eras in which a call last failed and last worked; null for never. An era ends when a new call works. */
interface PastCall {
  failedIn: number | null;
  workedIn: number | null;
}

const CALL_SIGNS = ['same-failing-call', 'same-call', 'refused'] as const;

type CallSign = (typeof CALL_SIGNS)[number];

interface Agent {
  readonly calls: Map<number, PastCall>;
  /** How many new calls have worked. Only what happened in the same era counts as "before". */
  era: number;
  readonly counts: Record<CallSign, number>;
  readonly told: Set<CallSign>;
}

interface OpenCall {
  readonly agent: Agent;
  readonly past: PastCall;
  readonly isNew: boolean;
  readonly text: string;
}

/** Creates a supervisor that watches one iteration, in bounded memory. */
export function createSupervisor(limits: SignLimits) {
  const main = newAgent();
  const subAgents = new Map<string, Agent>();
  const starts = new Map<string, true>();
  const open = new Map<string, OpenCall>();
  let tokens = 0;
  let costUsd = 0;
  let started = 0;
  let isCut = false;

  const limitOf: Readonly<Record<CallSign, number | null>> = {
    'same-failing-call': limits.sameFailing,
    'same-call': limits.sameCall,
    refused: limits.refused,
  };

  const agentOf = (by: string | null): Agent => {
    if (by === null) return main;
    const agent = subAgents.get(by) ?? newAgent();
    remember(subAgents, by, agent, REMEMBERED_SUB_AGENTS);
    return agent;
  };

  const readCall = ({ id, by, tool, input }: Extract<AgentDeed, { kind: 'called' }>): void => {
    // Some agents report a call a second time when they start it.
    if (open.has(id)) return;
    const agent = agentOf(by);
    const key = callKey(tool, input);
    const before = agent.calls.get(key);
    const past = before ?? { failedIn: null, workedIn: null };
    remember(agent.calls, key, past, REMEMBERED_CALLS);
    const call = { agent, past, isNew: before === undefined, text: textOf(tool, input) };
    remember(open, id, call, REMEMBERED_OPEN_CALLS);
  };

  const readAnswer = ({ id, how }: Extract<AgentDeed, { kind: 'answered' }>): SignFound | null => {
    const call = open.get(id);
    if (call === undefined) return null;
    open.delete(id);
    const { agent, past } = call;
    if (how === 'refused') return counted('refused', call);
    if (how === 'failed') {
      const isRepeated = past.failedIn === agent.era;
      past.failedIn = agent.era;
      return isRepeated ? counted('same-failing-call', call) : null;
    }
    agent.counts.refused = 0;
    if (call.isNew) startEra(agent);
    const isRepeated = past.workedIn === agent.era;
    past.workedIn = agent.era;
    return isRepeated ? counted('same-call', call) : null;
  };

  const counted = (sign: CallSign, { agent, text }: OpenCall): SignFound | null => {
    agent.counts[sign] += 1;
    const count = agent.counts[sign];
    const limit = limitOf[sign];
    if (limit === null) return null;
    const action = count >= limit ? 'cut' : 'told';
    if (action === 'told' && (count < toldAt(limit) || agent.told.has(sign))) return null;
    agent.told.add(sign);
    return { sign, action, count, detail: preview(text, MAX_DETAIL_CHARS) };
  };

  const read = (deed: AgentDeed): SignFound | null => {
    switch (deed.kind) {
      case 'called':
        readCall(deed);
        return null;
      case 'answered':
        return readAnswer(deed);
      case 'used':
        tokens += deed.tokens;
        return cutIf(tokens >= (limits.tokens ?? Infinity), 'tokens', tokens);
      case 'spent':
        costUsd += deed.costUsd;
        return cutIf(isSpent(costUsd, limits.moneyUsd ?? Infinity), 'money', costUsd);
      case 'sub-agent-started':
        if (starts.has(deed.id)) return null;
        remember(starts, deed.id, true, REMEMBERED_STARTS);
        started += 1;
        return cutIf(started > (limits.subAgents ?? Infinity), 'subagents', started);
    }
  };

  return {
    /** Returns the sign that has to be reported (`told`) or ends the agent (`cut`); null for none, or after a `cut`. */
    observe: (deed: AgentDeed): SignFound | null => {
      if (isCut) return null;
      const found = read(deed);
      isCut = found?.action === 'cut';
      return found;
    },
  };
}

function newAgent(): Agent {
  return {
    calls: new Map(),
    era: 0,
    counts: { 'same-failing-call': 0, 'same-call': 0, refused: 0 },
    told: new Set(),
  };
}

/** Resets the counts because a new call worked. */
function startEra(agent: Agent): void {
  agent.era += 1;
  for (const sign of CALL_SIGNS) agent.counts[sign] = 0;
  // Clearing a set allocates a new table, even if the set is empty.
  if (agent.told.size > 0) agent.told.clear();
}

/** Returns the count at which a sign is reported, for a sign that ends the iteration at `limit`. */
export function toldAt(limit: number): number {
  return Math.ceil(limit / 4);
}

function cutIf(isTooMuch: boolean, sign: SignName, count: number): SignFound | null {
  return isTooMuch ? { sign, action: 'cut', count, detail: '' } : null;
}

function textOf(tool: string, input: Readonly<Record<string, unknown>> | null): string {
  const target = input === null ? null : shortTarget(input, KEPT_CHARS);
  return target === null ? tool : `${tool}: ${target}`;
}
