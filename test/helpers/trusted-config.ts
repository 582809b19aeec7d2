import { writeFileSync } from 'node:fs';
import { noteTrust } from '../../src/effects/plan/trust-store.ts';

/** Writes a configuration, and trusts it as a person with this HOME would by `ralph trust`. */
export async function writeTrusted(file: string, text: string, home: string): Promise<void> {
  writeFileSync(file, text);
  await noteTrust({ file, text, wasFound: true }, { HOME: home });
}
