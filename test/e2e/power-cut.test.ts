import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { journalLine } from '../../src/effects/logs/journal.ts';
import { untoldEvents } from '../../src/effects/logs/untold-events.ts';
import { freeMemoryName } from '../../src/effects/state/saved-step.ts';
import { readNewestStep, readStateFile } from '../../src/effects/state/state-file.ts';
import { inHistory, taskPaths } from '../../src/effects/state/task-folder.ts';
import { endAllInLater } from '../helpers/living-in.ts';
import { CUTS, readOps, replayedDisk } from '../helpers/power-cut.ts';
import { fixture } from '../helpers/processes.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';
import { ownSeal } from '../helpers/test-seal.ts';

// The power is cut after each operation that a run does to its files. What is on disk then has to be the
// newest step that was durable, or a later one, and whole: state and memory of one and the same step. And
// each event that was told stands in the journal, or is told again by the driver that goes on.

const DONE = { text: 'Done.\n\nTASK_COMPLETE' };
const TURNS = [
  { text: `Not yet. ${'x'.repeat(20_000)}` },
  { text: 'I will say TASK_COMPLETE when it is done.' },
  { text: 'All done.\n\nTASK_COMPLETE' },
  { text: `Now. ${'y'.repeat(9_000)}\n\nTASK_COMPLETE`, shell: 'touch proof' },
];

/** The environment in which ralph's file operations below a folder are recorded, and what they were. */
function recording({ home }: Scene, below: string) {
  const recordTo = join(home, 'ops.jsonl');
  const env = {
    NODE_OPTIONS: `--require ${fixture('records-files.cjs')}`,
    RECORD_BELOW: below,
    RECORD_TO: recordTo,
  };
  return { env, ops: () => readOps(recordTo) };
}

test.for(CUTS)('no step is lost or mixed with another where power cuts leave %s', async (cut) => {
  const scene = await makeScene(TURNS);
  const stateDir = join(scene.folder, '.ralph_state');
  const { env, ops: recorded } = recording(scene, stateDir);
  const end = await scene.run(['--verify', 'test -e proof', '--after', 'true'], { env });
  expect(end).toMatchObject({ exitCode: 0 });
  const ops = recorded();
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

test('what a killed driver had not synced is made durable before the other memory is written over', async () => {
  const scene = await makeScene([{ text: 'Not yet.' }, { hangs: true }, DONE]);
  endAllInLater(scene.home);
  const ralph = await scene.start(['run', '--prompt', 'Fix it', '--task-id', 't', '--delay', '0']);
  await scene.fake.untilCalls(2);
  process.kill(ralph.pid, 'SIGKILL');
  await ralph.ended;
  const inForce = scene.state().memory;
  const inode = (name: string) => statSync(join(scene.folder, '.ralph_state/t', name)).ino;
  const [kept, other] = [inode(inForce), inode(freeMemoryName(inForce))];
  const { env, ops } = recording(scene, join(scene.folder, '.ralph_state'));
  expect(await scene.ralph(['resume', 't'], { env })).toMatchObject({ exitCode: 0 });
  const at = (op: string, of: number) =>
    ops().findIndex((each) => each.op === op && 'inode' in each && each.inode === of);
  expect(at('sync', kept)).toBeGreaterThan(-1);
  expect(at('sync', kept)).toBeLessThan(at('write', other));
});

test('the note of a task is durable before its file is moved', async () => {
  const scene = await makeScene([DONE]);
  await scene.write('Needs_Action/x.md', 'Write the letter.');
  const { env, ops } = recording(scene, scene.folder);
  const words = ['run', '--task-file', 'Needs_Action/x.md'];
  expect(await scene.ralph(words, { env })).toMatchObject({ exitCode: 0 });
  const all = ops();
  const moved = all.findIndex(({ op }) => op === 'link');
  expect(moved).toBeGreaterThan(0);
  const disk = replayedDisk(all);
  for (let done = 0; done < moved; done += 1) disk.next();
  for (const name of ['x.json', 'x/memory-1.json', 'x/prompt.md', 'x/settings.json']) {
    expect(disk.isDurable(join(scene.folder, '.ralph_state', name)), name).toBe(true);
  }
});
