import path from 'node:path';
import * as z from 'zod/mini';
import { VERDICT_WORDS } from '../../core/judge/verdict.ts';
import { PREDICATE_TYPE, type ProofStatement, STATEMENT_TYPE } from '../../core/proof/statement.ts';
import { ifPossible } from '../files/if-possible.ts';

/**
 * Reads a proof; null if the text is not a proof. Leaves out unknown fields. The text may come from anybody, so an id
 * can only be hex digits, which git cannot take for an option. No command of the proof is run here.
 */
export function readStatement(text: string): ProofStatement | null {
  const parsed = schema().safeParse(ifPossible(() => JSON.parse(text)));
  return parsed.success ? parsed.data : null;
}

/** The longest time that a timer can wait, in ms. */
const LONGEST_MS = 2 ** 31 - 1;

/** Whether a relative path stays in its folder, or names that folder. */
function staysInside(folder: string): boolean {
  return !path.isAbsolute(folder) && !folder.includes('\0') && !folder.split('/').includes('..');
}

function schema() {
  const text = z.string();
  const count = z.number().check(z.int(), z.nonnegative());
  const hex = z.string().check(z.regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/));
  const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
  return z.object({
    _type: z.literal(STATEMENT_TYPE),
    subject: z.array(z.object({ name: text, digest: z.record(text, hex) })),
    predicateType: z.literal(PREDICATE_TYPE),
    predicate: z.object({
      result: z.enum(['PASSED', 'WARNED', 'FAILED']),
      configuration: z.array(z.object({ name: text, digest: z.object({ sha256 }) })),
      passedTests: z.array(text),
      warnedTests: z.array(text),
      failedTests: z.array(text),
      ralph_checks: z.array(
        z.object({
          name: text,
          command: text,
          exit_code: z.nullable(z.number()),
          duration_ms: count,
          started_at: text,
          program: z.nullable(text),
          baseline: z.enum(['passed', 'failed', 'not-run']),
          where: z.enum(['work-tree', 'clean']),
          tests: z.nullable(count),
          failed: z.nullable(count),
          known_failures: z.array(text),
          other_failures: z.array(text),
          output_sha256: sha256,
          log: z.nullable(text),
        }),
      ),
      ralph_findings: z.array(z.object({ finding: text, detail: text, held: z.boolean() })),
      ralph_changed_tests: count,
      ralph_changed_test_files: z.array(text),
      ralph_setup: z.object({
        folder: z.string().check(z.refine(staysInside)),
        setup: z.nullable(text),
        copy: z.array(text),
        timeout_ms: z.number().check(z.int(), z.gte(1), z.lte(LONGEST_MS)),
      }),
      ralph_judge: z.exactOptional(
        z.object({
          agent: text,
          model: z.nullable(text),
          tree: z.nullable(text),
          verdict: z.enum([...VERDICT_WORDS, 'none']),
          why: z.nullable(text),
          criteria: z.array(
            z.object({
              id: text,
              text,
              verdict: z.enum(VERDICT_WORDS),
              evidence: text,
              where: z.array(
                z.object({
                  file: text,
                  line: z.exactOptional(count),
                  missing: z.exactOptional(z.literal(true)),
                }),
              ),
            }),
          ),
          cost_usd: z.number().check(z.nonnegative()),
        }),
      ),
    }),
  });
}
