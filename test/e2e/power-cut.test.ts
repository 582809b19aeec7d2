import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { journalLine } from '../../src/effects/journal.ts';
import { readNewestStep, readStateFile } from '../../src/effects/state-file.ts';
import { inHistory, taskPaths } from '../../src/effects/task-folder.ts';
import { untoldEvents } from '../../src/effects/untold-events.ts';
import { CUTS, readOps, replayedDisk } from '../helpers/power-cut.ts';
import { fixture } from '../helpers/processes.ts';
import { makeScene } from '../helpers/scene.ts';
import { ownSeal } from '../helpers/test-seal.ts';

// The power is cut after each operation that a run does to its files. What is on disk then has to be the
// newest step that was durable, or a later one, and whole: state and memory of one and the same step. And
// each event that was told stands in the journal, or is told again by the driver that goes on.

const TURNS = [
  { text: `Not yet. ${'x'.repeat(20_000)}` },
  { text: 'I will say TASK_COMPLETE when it is done.' },
  { text: 'All done.\n\nTASK_COMPLETE' },
  { text: `Now. ${'y'.repeat(9_000)}\n\nTASK_COMPLETE`, shell: 'touch proof' },
];

test.each(CUTS)('no step is lost or mixed with another where power cuts leave %s', async (cut) => {
  const scene = await makeScene(TURNS);
  const stateDir = join(scene.folder, '.ralph_state');
  const recordTo = join(scene.home, 'ops.jsonl');
  const env = {
    NODE_OPTIONS: `--require ${fixture('records-files.cjs')}`,
    RECORD_BELOW: stateDir,
    RECORD_TO: recordTo,
  };
  const end = await scene.run(['--verify', 'test -e proof', '--after', 'true'], { env });
  expect(end).toMatchObject({ exitCode: 0 });
  const ops = readOps(recordTo);
  const disk = replayedDisk(ops);
  const paths = taskPaths(stateDir, 't');
  const seal = ownSeal(stateDir);

  /** The newest step that is on the disk now, wherever the task lies. */
  const newest = () => {
    for (const place of [paths, inHistory(paths, 't')]) {
      if (!existsSync(place.stateFile)) continue;
      const file = readStateFile(place.stateFile, seal);
      // A name may be there twice, where a move was not durable: then one of them is whole.
      if (file.kind === 'task') return { file, ...readNewestStep(place, file.state, seal) };
    }
    return null;
  };

  const stepOf = new Map<string, number>();
  let durableSave = 0;
  let instants = 0;
  const problems: string[] = [];
  while (disk.next()) {
    instants += 1;
    disk.cut(cut, stateDir, stateDir);
    for (const name of ['memory-1.json', 'memory-2.json']) {
      noteSteps(disk.read(join(paths.folder, name)));
    }
    const found = newest();
    const untold = untoldEvents(paths.eventsFile, found?.step?.events ?? []).map(journalLine);
    const kept = [...linesOf(tryRead(paths.eventsFile)), ...untold];
    const save = found?.state.save ?? 0;
    // Later steps are gone through once more, and tell theirs once more.
    const lost = linesOf(disk.read(paths.eventsFile)).filter((line) => {
      const isEnd = line.includes('"exit_code":0,"iterations_used"');
      // A completion is told once more as long as what is needed for that lies there.
      if (isEnd && found?.step != null) return false;
      return !kept.includes(line) && (stepOf.get(line) ?? 0) <= save;
    });
    if (durableSave > 0 && lost.length > 0) problems.push(`${instants}: lost ${lost}`);
    if (save < durableSave) problems.push(`${instants}: step ${save}, durable was ${durableSave}`);
    if (found !== null && !found.file.isOwn) problems.push(`${instants}: not one's own`);
    if (found?.step != null && found.step.task.save !== save) {
      problems.push(`${instants}: state of step ${save}, memory of ${found.step.task.save}`);
    }
    // A step is durable once one of the memories holds it, with its name; later ones may be, too.
    if (found !== null && isDurable(found.state.memory)) durableSave = Math.max(durableSave, save);
  }
  expect(problems).toEqual([]);
  expect(instants).toBeGreaterThan(100);
  expect(durableSave).toBeGreaterThan(8);
  expect(newest()?.state.status).toBe('completed');

  /** Remembers which events were saved with which step. */
  function noteSteps(memory: string): void {
    if (!memory.trimEnd().endsWith('}')) return;
    const { task, events } = JSON.parse(memory);
    for (const event of events) stepOf.set(journalLine(event), task.save);
  }

  /** The events but for what the agent was seen doing, which the logs have, too. */
  function linesOf(journal: string): readonly string[] {
    const whole = journal.split('\n').slice(0, -1);
    return whole.filter((line) => line !== '' && !line.includes('"agent_activity"'));
  }

  function tryRead(file: string): string {
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  function isDurable(memory: string | null): boolean {
    return [paths, inHistory(paths, 't')].some(
      ({ folder }) => memory !== null && disk.isDurable(join(folder, memory)),
    );
  }
});
