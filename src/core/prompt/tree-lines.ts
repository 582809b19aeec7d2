import type { Policy } from '../task/policy.ts';
import { firstFew, materialLine } from '../text/untrusted-text.ts';
import type { Handover } from './handover.ts';
import { rulesFor } from './material-rules.ts';

/** Tells the agent what is missing in its new work tree, since the agent can often provide it. */
export function treeLines(policy: Policy, { lacks }: Handover): readonly string[] {
  if (lacks === undefined) return [];
  const { submodules, ignored, hooks } = lacks;
  const shown = (name: string): string => materialLine(name, rulesFor(policy));
  const lines = [
    ...(submodules.length === 0
      ? []
      : [
          `Its submodules are empty (${firstFew(submodules, shown)}); "git submodule update --init" fills them.`,
        ]),
    ...(ignored.length === 0
      ? []
      : [`What git ignores is not in it: ${firstFew(ignored, shown)}.`]),
    ...(hooks === null
      ? []
      : [`No hook of git will run at a commit: the folder ${shown(hooks)} is not in it.`]),
  ];
  return lines.length === 0 ? [] : ['You work in a new git work tree.', ...lines];
}
