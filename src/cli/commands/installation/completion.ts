import type { Command } from 'commander';
import { bashScript } from '../../completion/bash.ts';
import { fishScript } from '../../completion/fish.ts';
import { completionModel } from '../../completion/model.ts';
import type { Shell } from '../../completion/names.ts';
import { zshScript } from '../../completion/zsh.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** `ralph completion SHELL`: prints the script with which a shell completes commands, flags and task ids. */
export function completion(shell: Shell, program: Command): number {
  process.stdout.write(SCRIPTS[shell](completionModel(program)));
  return 0;
}
