import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { colouredTerminal, terminalSvg, textOf } from '../../scripts/draw-terminal.ts';
import { HAS_PSEUDO_TERMINALS, onTerminal } from '../helpers/pseudo-terminal.ts';
import { makeScene } from '../helpers/scene.ts';

const PICTURES = join(import.meta.dirname, '../../docs/pictures');
const SVG = readFileSync(join(PICTURES, 'demo.svg'), 'utf8');

/** The text of one frame of a picture, line by line. */
function linesIn(svg: string, frame: string): readonly string[] {
  const group = new RegExp(`<g class="frame ${frame}">([\\s\\S]*?)</g>`).exec(svg)?.[1] ?? '';
  const lines = new Map<string, string>();
  for (const [, y = '', text = ''] of group.matchAll(/<text[^>]* y="([\d.]+)"[^>]*>([^<]*)</g)) {
    lines.set(y, `${lines.get(y) ?? ''}${unescaped(text)}`);
  }
  return [...lines.values()];
}

function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

/** As one word without what differs from run to run: times, costs, and where lines were cut for them. */
function masked(lines: readonly string[]): string {
  return lines
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .map((line) => line.replace(/(?<![\w.])(\d+(\.\d+)?(ms|h|m|s) ?)+/g, 'TIME'))
    .map((line) => line.replace(/\$\d+\.\d+/g, 'COST'))
    .map((line) => (line.endsWith('…') ? `${line.slice(0, 60)}…` : line))
    .join('')
    .replace(/\s+/g, '');
}

/** Whether every tag is closed in its turn, and every `&` is the beginning of a name. */
function isWellFormed(xml: string): boolean {
  const open: string[] = [];
  for (const [, end, name = '', , closed] of xml.matchAll(
    /<(\/?)([a-z]+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>/g,
  )) {
    if (end === '/') {
      if (open.pop() !== name) return false;
    } else if (closed === '') open.push(name);
  }
  const rest = xml.replace(/<\/?[a-z]+(?:\s+[\w:-]+="[^"<]*")*\s*\/?>/g, '');
  return open.length === 0 && !/[<>]|&(?!(?:lt|gt|amp|quot);)/.test(rest);
}

describe('docs/pictures/demo.svg', () => {
  test('is well-formed and needs nothing beside itself', () => {
    expect(isWellFormed(SVG)).toBe(true);
    expect(SVG).not.toMatch(/href|url\(|@import|<(script|image|foreignObject)|\son\w+=/i);
    expect(SVG.match(/https?:[^"]*/g)).toEqual(['http://www.w3.org/2000/svg']);
  });

  test('shows each iteration at work, in light and in dark', () => {
    expect(linesIn(SVG, 'f1').join('\n')).toContain('Write: greeting.txt');
    expect(linesIn(SVG, 'f3').join('\n')).toContain('iteration 3/5');
    expect(SVG).toContain('@media (prefers-color-scheme:dark)');
  });

  test.skipIf(!HAS_PSEUDO_TERMINALS)(
    'shows what the demo of now leaves on a terminal',
    async () => {
      const scene = await makeScene();
      const run = onTerminal(scene, 'ralph demo');
      expect(await run.ended).toBe(0);
      const terminal = colouredTerminal(80);
      terminal.write(run.written());
      const now = textOf(terminal.frame()).split('\n');
      expect(masked(linesIn(SVG, 'last')), '`npm run pictures` makes it anew').toBe(
        masked(['$ ralph demo', ...now]),
      );
    },
  );
});

describe('docs/pictures/report.png', () => {
  test('is a picture of fewer than 200 KB', () => {
    const file = join(PICTURES, 'report.png');
    expect(readFileSync(file).subarray(1, 4).toString()).toBe('PNG');
    expect(statSync(file).size).toBeLessThan(200_000);
  });
});

describe('the picture of a terminal', () => {
  const draw = (text: string): string => {
    const terminal = colouredTerminal(20);
    terminal.write(text);
    return terminalSvg([terminal.frame()], { columns: 20, command: 'x', title: '<&">' });
  };

  test('keeps what is drawn over, in its colours, and escapes it', () => {
    const svg = draw('one\r\n\u001b[32mtwo\u001b[39m\u001b[1A\r\u001b[K<b> & "c"\r\n');
    expect(linesIn(svg, 'last')).toEqual(['$ x', '<b> & "c"', 'two']);
    expect(svg).toMatch(/<text class="c32"[^>]*>two</);
    expect(isWellFormed(svg)).toBe(true);
  });

  test('folds a long line, and gives a wide sign two columns', () => {
    expect(linesIn(draw(`${'a'.repeat(19)}漢b`), 'last')).toEqual(['$ x', 'a'.repeat(19), '漢b']);
    expect(draw('漢')).toContain('textLength="16.8">漢');
  });

  test.for(['\u001b[2J', '\u001b[48;5;1m', '\u0007', '\u001b]0;title\u0007'])(
    'is refused where it would be wrong: %j',
    (sequence) => {
      expect(() => draw(sequence)).toThrow('cannot show');
    },
  );
});
