import path from 'node:path';
import { withoutControls } from '../../core/text/untrusted-text.ts';
import { homeFolder } from '../files/home-folder.ts';
import type { JsonObject } from '../files/json-fields.ts';
import { createLineSplitter } from '../files/line-splitter.ts';
import type { AgentSigns } from '../processes/run-process.ts';
import type { AgentKind, AgentOptions, AgentReader, AgentTurn, ReaderListener } from './agent.ts';
import { createJsonLines } from './json-lines.ts';
import { createSink, type Sink } from './sink.ts';

/**
 * An agent whose output is one JSON object per line. Only the properties of the agent itself are here: `sink.ts`
 * collects the content of the events, and patterns for the agent's error messages are in `core/agent/agents/`.
 */
export interface JsonAgent {
  readonly program: string;
  /** The folder below the home folder in which the agent's own installer puts the program, if it is an unusual one. */
  readonly ownFolder?: string;
  args(turn: AgentTurn, options: AgentArguments): readonly string[];
  event(event: JsonObject, say: Sink): void;
  /** Reads a line that is no event, of standard error or standard output. Its position among the events is unknown. */
  words?(line: string, say: Sink, options: AgentArguments): void;
}

type AgentArguments = Pick<AgentOptions, 'settings' | 'passthrough' | 'inSandbox'>;

/** Returns the constructor of an agent that writes JSON lines. */
export function jsonAgent(agent: JsonAgent): (options: AgentOptions) => AgentKind {
  return (options) => {
    const { prefixArgs = [] } = options;
    return {
      ...programPlace(agent, options),
      args: (turn) => [...prefixArgs, ...agent.args(turn, options)],
      examine: () => [
        {
          kind: 'ok',
          says: `login: not checked; a run ends at once if ${agent.program} is not logged in`,
          remedy: null,
        },
      ],
      read: (listener, signs) => createJsonReader(agent, options, listener, signs),
    };
  };
}

/** Returns an agent's program, and the folders in which installers put it. */
export function programPlace(
  { program, ownFolder }: Pick<JsonAgent, 'program' | 'ownFolder'>,
  { settings: { agentBin }, env }: AgentOptions,
): Pick<AgentKind, 'program' | 'folders'> {
  if (agentBin !== null) return { program: agentBin, folders: [] };
  const home = homeFolder(env);
  const inHome = ['.local/bin', ...(ownFolder === undefined ? [] : [ownFolder])];
  const own = home === null ? [] : inHome.map((folder) => path.join(home, folder));
  return { program, folders: [...own, '/usr/local/bin', '/opt/homebrew/bin'] };
}

/** Longer lines of standard error are skipped. */
const MAX_WORDS_BYTES = 64 * 1024;

function createJsonReader(
  agent: JsonAgent,
  options: AgentArguments,
  listener: ReaderListener,
  signs: AgentSigns,
): AgentReader {
  const { sink, facts, end } = createSink(listener, signs);
  const readWords = (line: Buffer): void => {
    agent.words?.(withoutControls(line.toString()).trim(), sink, options);
  };
  const stdout = createJsonLines({
    onEvent: (event) => agent.event(event, sink),
    onOther: readWords,
  });
  const stderr = createLineSplitter({ onLine: readWords, maxLineBytes: MAX_WORDS_BYTES });
  return {
    push: stdout.push,
    pushStderr: stderr.push,
    end() {
      stdout.end();
      stderr.end();
      end();
    },
    facts: () => ({
      ...facts(),
      skippedLines: stdout.skippedLines(),
      brokenLines: stdout.brokenLines(),
    }),
  };
}
