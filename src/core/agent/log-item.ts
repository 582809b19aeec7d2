/** One entry of a log as shown to a person. Texts contain no control or escape sequences. */
export type LogItem =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tool'; readonly tool: string; readonly target: string }
  | { readonly kind: 'tool-error'; readonly text: string }
  | {
      readonly kind: 'result';
      /** The `subtype` that `claude` reports, such as `success` or `error_max_turns`. */
      readonly how: string;
      readonly turns: number | null;
      readonly costUsd: number | null;
    }
  /** A line that is not an event of `claude`, for example the output of a command agent. */
  | { readonly kind: 'line'; readonly text: string }
  /** An incomplete event, for example because the agent was killed. */
  | { readonly kind: 'torn' }
  | { readonly kind: 'skipped'; readonly bytes: number };
