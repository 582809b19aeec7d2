import type { RalphEvent } from '../core/machine/events.ts';
import type { SettingOptions } from './setting-options.ts';

/** A task's settings and its listeners. */
export interface RunTaskOptions extends SettingOptions {
  /** `--signal`: complete when the agent states one of these texts in two iterations in a row. */
  readonly signals?: string | readonly string[];
  /** Stops the loop when it is aborted, as `ralph stop` does; the task can be resumed. */
  readonly signal?: AbortSignal;
  /** Receives every event as it happens, as `--json` prints it. ralph ignores an error that the function throws. */
  readonly onEvent?: (event: RalphEvent) => void;
  /** Receives the agent's text as it arrives, without control characters. */
  readonly onText?: (text: string) => void;
  /** Receives warnings and notices, a sentence each, as a person at a terminal would read them. */
  readonly onNotice?: (sentence: string) => void;
  /** The agent's environment; default: this process's. `RALPH_*` settings in it are ignored. */
  readonly env?: NodeJS.ProcessEnv;
  /**
   * The id of an open task to resume, as `ralph resume` does. Further options change its settings from now on;
   * those that say what the task is, such as `prompt`, are refused.
   */
  readonly resume?: string;
  /** Another name for `agentBin`. */
  readonly claudeBin?: string;
  /** Arguments that are handed to the agent unchanged. */
  readonly agentArguments?: readonly string[];
}
