import {
  CST,
  type Document,
  type DocumentOptions,
  isCollection,
  isPair,
  Lexer,
  type ParseOptions,
  parseDocument,
  type SchemaOptions,
} from 'yaml';

/*
 * Parses YAML from untrusted sources. The parser recurses for each level, and running out of stack
 * can end the whole process instead of throwing. Keys that are lists or mappings themselves cost
 * time that grows with a high power of their depth: 300 levels in 600 bytes take seconds.
 */

/** The limit for levels: nothing that ralph reads has more than four. */
const MOST_LEVELS = 20;
/** The parser fails at about 700 levels; this limit and the next two together allow 300. */
const MOST_BRACKETS = 50;
/** Limit for `-`, `?` and `:` on one line, or in brackets between commas: each can open a level. */
const MOST_SIGNS = 50;
const DEEPEST_INDENT = 200;

const TOO_DEEP = `it is nested deeper than ${MOST_LEVELS} levels`;

/** Parses YAML. Returns a problem, half a sentence, if the text is nested too deeply. */
export function parseYaml(
  text: string,
  options: ParseOptions & DocumentOptions & SchemaOptions,
): Document.Parsed | { readonly problem: string } {
  if (exhaustsParser(text)) return { problem: TOO_DEEP };
  const document = parseDocument(text, options);
  return isDeeper(document.contents, MOST_LEVELS) ? { problem: TOO_DEEP } : document;
}

/** Whether a text could have more levels than the parser can take. Uses only the lexer, which does not recurse. */
function exhaustsParser(text: string): boolean {
  let brackets = 0;
  let signs = 0;
  let isLineStart = true;
  for (const token of new Lexer().lex(text)) {
    switch (CST.tokenType(token)) {
      case 'newline':
        if (brackets <= 0) signs = 0;
        isLineStart = true;
        continue;
      case 'comma':
        signs = 0;
        break;
      case 'space':
        if (isLineStart && token.length > DEEPEST_INDENT) return true;
        break;
      case 'flow-seq-start':
      case 'flow-map-start':
        brackets += 1;
        break;
      case 'flow-seq-end':
      case 'flow-map-end':
        brackets -= 1;
        break;
      case 'seq-item-ind':
      case 'explicit-key-ind':
      case 'map-value-ind':
        signs += 1;
    }
    isLineStart = false;
    if (brackets > MOST_BRACKETS || signs > MOST_SIGNS) return true;
  }
  return false;
}

function isDeeper(node: unknown, levels: number): boolean {
  if (isPair(node)) return isDeeper(node.key, levels) || isDeeper(node.value, levels);
  if (!isCollection(node)) return false;
  return levels === 0 || node.items.some((item) => isDeeper(item, levels - 1));
}
