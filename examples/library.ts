// Runs a task with a stand-in agent, listens to what happens, and cancels another task.
// Usage: npx tsx examples/library.ts (Node 24 needs no tsx)
import { type RalphEvent, runTask } from 'ralph-headless';

const agentCommand = "sh -c 'cat > /dev/null; echo The report is written.; echo TASK_COMPLETE'";
const tell = ({ task_id, event }: RalphEvent): void => console.log(`${task_id}: ${event}`);

const prompt = 'Write the report, then state the promise TASK_COMPLETE.';
const report = await runTask({ prompt, taskId: 'report', agentCommand, onEvent: tell });
console.log(`${report.status} after ${report.iterations} iteration: ${report.finalMessage}`);

const cancel = new AbortController();
const endless = await runTask({
  prompt: 'Work until somebody stops you.',
  taskId: 'endless',
  agentCommand: 'sleep 600',
  signal: cancel.signal,
  onEvent(event) {
    tell(event);
    if (event.event === 'iteration_started') cancel.abort();
  },
});
console.log(`${endless.status}; ralph resume endless would continue it`);
