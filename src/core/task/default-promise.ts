/** Used where no completion condition is given at all. */
export const DEFAULT_PROMISE = 'TASK_COMPLETE';
