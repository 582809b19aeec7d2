import type { Briefing, BriefTask } from '../../../core/task/briefing.ts';
import { html } from './markup.ts';
import { needsSection, overview } from './overview.ts';
import { STYLE } from './style.ts';
import { taskSection } from './task-section.ts';
import { timeline } from './timeline.ts';

/** The content security policy: the page needs only its own style, so nothing is loaded, run or sent. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** Returns a briefing as one self-contained page. The briefing's texts contain no secrets. */
export function renderPage(briefing: Briefing): string {
  const { tasks, stateDir, until } = briefing;
  const targets = new Map(tasks.map((task, index) => [task, `task-${index + 1}`]));
  const link = (task: BriefTask): string => targets.get(task) ?? '';
  return `${
    html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>ralph: ${until.slice(0, 10)}</title>
<style>${{ markup: STYLE }}</style>
</head>
<body><main>
${overview(briefing)}
${needsSection(briefing, link)}
${timeline(briefing, link)}
<h2>Task by task</h2>
${tasks.length === 0 ? html`<p class="dim">No task ran in this time.</p>` : tasks.map((task) => taskSection(task, briefing, link(task)))}
<footer>From <code>${stateDir}</code>. Times are in UTC; figures cover this period only.</footer>
</main></body>
</html>
`.markup
  }`;
}
