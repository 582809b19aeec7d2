import type { SandboxRule, SandboxRules } from '../../core/sandbox/rules.ts';

/** Returns every rule of a sandbox as a line. `variables` are those that the sandbox sets, such as `TMPDIR`. */
export function sandboxRuleLines(
  rules: SandboxRules,
  variables: Readonly<Record<string, string>>,
): readonly string[] {
  const ofRun = (value: string): SandboxRule => ({ value, from: 'a new folder of the run' });
  const temporary = variables.TMPDIR === undefined ? [] : [ofRun(variables.TMPDIR)];
  const rows: readonly (readonly [what: string, list: readonly SandboxRule[]])[] = [
    ['may write', [...rules.allowWrite, ...temporary]],
    ['may not write', rules.denyWrite],
    ['may not read', rules.denyRead],
    ['may read', rules.allowRead],
    ['may reach', rules.allowNet],
    ['keeps the variable', rules.keepEnv],
    ['lacks the variable', rules.dropEnv],
    ['gets the variable', Object.entries(variables).map((each) => ofRun(each.join('=')))],
  ];
  const width = Math.max(...rows.map(([what]) => what.length));
  return [
    ...rows.flatMap(([what, list]) =>
      list.map(({ value, from }) => `${what.padEnd(width)}  ${value}  (${from})`),
    ),
    ...(rules.hiddenHome === null
      ? []
      : [
          `entries of ${rules.hiddenHome} whose names begin with a dot are hidden, but for what may be read or written`,
        ]),
    `sockets in the file system are ${rules.unixSockets ? 'allowed, and the temporary folders hidden' : 'not allowed'}`,
    `checks run ${rules.checksInside ? 'in the sandbox, without the login of the agent' : 'outside the sandbox'}`,
  ];
}
