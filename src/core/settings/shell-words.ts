/** Splits a command line into words as a shell does, but expands nothing. Returns null if a quote is not closed. */
export function shellWords(line: string): readonly string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote: '"' | "'" | null = null;
  for (let index = 0; index < line.length; index += 1) {
    const char = line.charAt(index);
    if (quote !== null) {
      if (char === quote) quote = null;
      else if (char === '\\' && quote === '"' && /["\\$`\n]/.test(line.charAt(index + 1))) {
        index += 1;
        word = `${word ?? ''}${unbroken(line.charAt(index))}`;
      } else word = `${word ?? ''}${char}`;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (char === '\\' && line.charAt(index + 1) === '\n') {
      index += 1;
    } else if (char === '\\' && index + 1 < line.length) {
      index += 1;
      word = `${word ?? ''}${line.charAt(index)}`;
    } else if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = `${word ?? ''}${char}`;
  }
  if (quote !== null) return null;
  if (word !== null) words.push(word);
  return words;
}

/** Returns an escaped character; nothing for a line break, since the backslash joins the two lines. */
function unbroken(char: string): string {
  return char === '\n' ? '' : char;
}
