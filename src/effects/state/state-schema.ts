import * as z from 'zod/mini';
import { NO_USAGE } from '../../core/agent/attempt.ts';
import { SIGN_NAMES } from '../../core/agent/sign.ts';
import { ACCEPTING_FLAG } from '../../core/proof/findings.ts';
import { EVIDENCE_KINDS } from '../../core/settings/rows/completion.ts';
import { isSnapshotRefs } from '../../core/snapshots/snapshot-names.ts';
import { HELD_BECAUSE, SKIPPED_BECAUSE } from '../../core/task/agent-standing.ts';
import { ENDED_STATUSES } from '../../core/task/endings.ts';
import {
  type Evidence,
  type EvidenceProof,
  laterBy,
  NO_BREAKER,
  NO_METRICS,
  SCHEMA_VERSION,
  type TaskState,
} from '../../core/task/task-state.ts';

/*
 * A state file must contain an id, a status and a start time. Every other field that is missing or malformed gets its
 * initial value, so that a task can be resumed even after an edit of its state.
 */

const orNull = <Schema extends z.ZodMiniType>(schema: Schema) => z.catch(z.nullable(schema), null);

/** Built when the first state is read: a new task reads none, so its agent need not wait for this. */
let built: ReturnType<typeof buildSchema> | null = null;

function buildSchema() {
  const text = z.string();
  const count = z.number().check(z.int(), z.nonnegative());
  const amount = z.number().check(z.nonnegative(), z.maximum(1e15));
  /**
   * Only four-digit years: arithmetic with instants at the limits of `Date` fails. No letters except T and Z:
   * `Date.parse` ignores any text in brackets, and instants are shown on terminals.
   */
  const instant = z
    .string()
    .check(
      z.refine((value) => /^\d{4}-[\d:.TZ +-]+$/.test(value) && !Number.isNaN(Date.parse(value))),
    );

  const usage = z.object({ cost_usd: amount, input_tokens: amount, output_tokens: amount });

  const status = z.enum(['pending', 'running', ...ENDED_STATUSES]);

  const iteration = z.object({
    number: count,
    agent: z.exactOptional(text),
    started_at: instant,
    duration_ms: amount,
    outcome: text,
    cut_by: z.exactOptional(z.enum(SIGN_NAMES)),
    exit_code: z.nullable(z.number()),
    completed: z.boolean(),
    near_miss: z.boolean(),
    cost_usd: amount,
    input_tokens: amount,
    output_tokens: amount,
    turns: amount,
    tools: amount,
    refused: z.array(text),
    files_changed: z.nullable(amount),
    output_preview: text,
  });

  const errorRecord = z.object({
    at: instant,
    iteration: count,
    attempt: count,
    agent: z.exactOptional(text),
    kind: text,
    message: text,
  });

  const standing = z.object({
    held_until: orNull(instant),
    why: orNull(z.enum([...HELD_BECAUSE, ...SKIPPED_BECAUSE])),
    error: orNull(text),
    is_guess: z.exactOptional(z.literal(true)),
    usage,
  });

  const evidence = z.object({
    kind: z.enum(EVIDENCE_KINDS),
    detail: text,
    agent: z.exactOptional(text),
    proof: orNull(z.object({ proven: z.boolean(), text, findings: z.array(text) })),
  });

  const wait = z.object({
    kind: z.enum(['delay', 'back-off', 'outage', 'recheck', 'usage-limit']),
    until: instant,
    is_guess: z.exactOptional(z.literal(true)),
  });

  const progress = z.object({
    steps_total: amount,
    steps_completed: amount,
    current_step: text,
    percentage: amount,
  });

  const driver = z.object({
    pid: count,
    pid_started_at: z.catch(text, ''),
    boot_id: z.catch(text, ''),
    host: z.catch(text, ''),
    pid_namespace: z.catch(text, ''),
    run_id: z.catch(text, ''),
    beat_at: instant,
  });

  const approval = z.object({
    id: text,
    what: z.catch(text, ''),
    // A plain name, so that it cannot lead to another folder.
    file: z.string().check(z.regex(/^[^./\\][^/\\]*$/)),
    by_agent: z.catch(z.boolean(), false),
    requested_at: instant,
    expires_at: instant,
    there_before: orNull(z.object({ approved: orNull(text), rejected: orNull(text) })),
    decision: orNull(z.enum(['approved', 'rejected'])),
    answered_at: orNull(instant),
    answer_file: orNull(text),
    reason: orNull(text),
  });

  const texts = z.catch(z.array(text), []);
  const sandbox = z.object({
    is: z.enum(['on', 'off']),
    version: z.catch(text, ''),
    rules: z.object({
      ...{ allow_write: texts, allow_net: texts, deny_read: texts, allow_read: texts },
      ...{ keep_env: texts, allow_unix_sockets: z.catch(z.boolean(), false) },
      sandbox_checks: z.catch(z.boolean(), true),
    }),
    changes: z.catch(z.array(z.object({ at: instant, what: text })), []),
    refused: z.catch(z.array(z.object({ host: text, port: count, count })), []),
    planted: texts,
    more: z.catch(z.optional(z.object({ refused: count, planted: count })), undefined),
  });

  return z.object({
    schema_version: z.catch(z.number(), SCHEMA_VERSION),
    task_id: text,
    task_prompt: z.catch(text, ''),
    prompt_sha256: z.catch(text, ''),
    task_type: z.catch(text, 'default'),
    task_file: orNull(text),
    completion_promise: orNull(text),
    match: z.catch(z.enum(['statement', 'tag', 'contains']), 'statement'),
    watch_glob: z.catch(z.array(text), []),
    watch_file: orNull(text),
    done_folder: z.catch(text, ''),
    max_iterations: z.catch(count, 0),
    current_iteration: z.catch(count, 0),
    attempt: z.catch(count, 0),
    status,
    started_at: instant,
    updated_at: z.catch(z.nullable(instant), null),
    finished_at: orNull(instant),
    timeout_at: z.catch(z.nullable(instant), null),
    exit_reason: orNull(text),
    accepting: orNull(z.array(z.string().check(z.regex(ACCEPTING_FLAG)))),
    evidence: orNull(evidence),
    iterations: z.catch(z.array(iteration), []),
    errors: z.catch(z.array(errorRecord), []),
    wait: orNull(wait),
    progress: orNull(progress),
    usage: z.catch(usage, NO_USAGE),
    metrics: z.catch(
      z.object({
        total_duration_seconds: amount,
        iterations: count,
        api_calls: amount,
        files_created: z.nullable(amount),
        files_modified: z.nullable(amount),
      }),
      NO_METRICS,
    ),
    breaker: z.catch(
      z.object({ no_progress: count, same_error: count, last_error: z.nullable(text) }),
      NO_BREAKER,
    ),
    paused_for_approval: z.catch(z.boolean(), false),
    approval: orNull(approval),
    agent: orNull(text),
    agents: z.catch(z.record(text, standing), {}),
    judge: orNull(
      z.object({
        ...{ agent: text, model: orNull(text), calls: count, held: count },
        ...{ usage, says: z.catch(text, '') },
      }),
    ),
    session_id: orNull(text),
    session_usage: orNull(z.extend(usage, { session_id: text })),
    git_base: orNull(text),
    driver: orNull(driver),
    memory: orNull(text),
    save: z.catch(count, 0),
    git: z.catch(
      z.object({
        snapshots: orNull(z.string().check(z.refine(isSnapshotRefs))),
        work_tree: orNull(
          z.object({ path: text, branch: text, base: text, onto: z.nullable(text), origin: text }),
        ),
        branches: z.catch(z.optional(z.array(text)), undefined),
      }),
      { snapshots: null, work_tree: null },
    ),
    sandbox: orNull(sandbox),
    kept_by: orNull(z.literal('library')),
  });
}

/** The default time limit of a task. */
const USUAL_TIMEOUT_MS = 30 * 60_000;

/** Returns the task in a parsed state file; null if the value is not a state. */
export function parseState(value: unknown): TaskState | null {
  built ??= buildSchema();
  const parsed = built.safeParse(value);
  if (!parsed.success) return null;
  const { kept_by, accepting, evidence, judge, ...fields } = parsed.data;
  const updated_at = fields.updated_at ?? fields.started_at;
  const timeout_at = fields.timeout_at ?? laterBy(updated_at, USUAL_TIMEOUT_MS);
  return {
    ...fields,
    updated_at,
    timeout_at,
    evidence: evidence && withoutNull(evidence),
    ...(accepting === null ? {} : { accepting }),
    ...(kept_by === null ? {} : { kept_by }),
    ...(judge === null ? {} : { judge }),
  };
}

function withoutNull({
  proof,
  ...evidence
}: Omit<Evidence, 'proof'> & { proof: EvidenceProof | null }): Evidence {
  return proof === null ? evidence : { ...evidence, proof };
}
