import type { RalphEvent } from './events.ts';

/** What is told of a task that no loop drives: as the loop tells it, and that it waits for a person. */
export type BookEvent =
  | RalphEvent
  | {
      readonly event: 'task_paused';
      readonly at: string;
      readonly task_id: string;
      readonly approval_id: string;
    };
