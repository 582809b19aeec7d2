import type { SettingName } from './settings.ts';

/** The limits of a task type and how strictly claims of completion are checked, as written on the command line. */
export type TaskTypeLimits = Readonly<
  Partial<
    Record<Extract<SettingName, 'maxIterations' | 'iterationTimeout' | 'timeout' | 'proof'>, string>
  >
>;

/** The built-in task types. A configuration file may change them and add others. */
export const TASK_TYPES: Readonly<Record<string, TaskTypeLimits>> = {
  email_processing: { maxIterations: '5', iterationTimeout: '180s', timeout: '30m' },
  invoice_generation: { maxIterations: '3', iterationTimeout: '180s', timeout: '30m' },
  social_media_posting: { maxIterations: '3', iterationTimeout: '180s', timeout: '30m' },
  weekly_audit: { maxIterations: '10', iterationTimeout: '180s', timeout: '30m' },
  coding: { maxIterations: '30', iterationTimeout: '30m', timeout: '8h', proof: 'hold' },
  default: { maxIterations: '5', iterationTimeout: '180s', timeout: '30m' },
};

/** Whether a task type contains the word "payment" or "payments". ralph refuses it, since it automates no payments. */
export function isPayment(taskType: string): boolean {
  return taskType
    .toLowerCase()
    .split(/[_\-\s]+/)
    .some((word) => word === 'payment' || word === 'payments');
}
