import type { Span } from './phrase.ts';

/** The kinds of text in which a phrase, such as an agent's text for "done", is only shown or mentioned, not stated. */
export const SHOWN = [
  'in-code',
  'in-a-comment',
  'in-a-quote',
  'in-a-heading',
  'in-a-table',
  'in-an-unticked-box',
  /** The thinking of a model, printed between tags such as `<think>`. */
  'in-thinking',
  /** Between the tags of any other HTML or XML element: `<example>`, `<details>`. */
  'in-an-element',
  /** JSON, YAML, a diff, unfenced code. */
  'in-data',
  'in-a-transcript',
] as const;
export type NonProse = (typeof SHOWN)[number];

/** A part of a text that is not prose. */
export interface Region extends Span {
  readonly why: NonProse;
}
