/* Words that show how the text beside a promise (words for "done") is meant. docs/completion.md names the languages. */

/** Returns a pattern for whole words. Combining marks count as letters, since Hindi writes vowels with them. */
function anyWord(...words: readonly string[]): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{M}])(?:${words.join('|')})(?![\\p{L}\\p{M}])`, 'iu');
}

/** Words that say that something is not so, or not yet: English, German, French, Spanish. */
const DENIES = anyWord(
  "not|cannot|\\p{L}+n['’]t|never|until|unless|will|shall|would|should|\\p{L}+['’]ll",
  'nicht|nie|nein|werde|würde',
  'non|pas|jamais',
  'nunca|no (?:puedo|está|voy)',
);
/** Like `DENIES`, in Japanese, Chinese, Arabic and Hindi, and also inside longer words. */
const DENIES_INSIDE = /できない|できません|いません|まだ|尚未|还没|不能|لن |ليس|नहीं/u;
/** Matches words like `after` that begin a condition, only at the start of a sentence: not `All pass after the fix`. */
const CONDITION =
  /^[\s*_>-]*(?:(?:and|only|then),? )?(?:(?:if|when|once|after|as soon as|wenn|falls|sobald|si|quand|dès que|cuando)(?!\p{L})|如果|一旦|إذا|अगर|जब)|(?:たら|れば)[、,:：]?\s*$/iu;
const SAYS_NO = /[❌🚫⛔✗✘⏳🚧🔴]/u;

/** Whether the last sentence of a text is negated, conditional or about the future. */
export function isHedged(text: string): boolean {
  const sentence = lastSentence(text);
  return [DENIES, DENIES_INSIDE, CONDITION, SAYS_NO].some((words) => words.test(sentence));
}

/** Whether a line has a symbol that means "no" or "not yet". */
export function saysNo(line: string): boolean {
  return SAYS_NO.test(line);
}

const WRITES = anyWord(
  'print|output|write|say|emit|post|reply|answer|end|finish|close|state the',
  'gib|(?:aus)?geben?|schreib(?:en?)?|sag(?:en?)?',
  'affiche(?:r|rai)?|écri(?:s|re|rai)|di(?:s|re|rai)',
  'imprim(?:e|ir|iré)|escrib(?:e|ir|iré)|muestra|mostrar',
);
const WRITES_INSIDE = /出力|表示|输出|打印|اكتب|اطبع|लिखें/u;

/** Whether a text has words that ask for something to be written. */
export function isOnWriting(text: string): boolean {
  return WRITES.test(text) || WRITES_INSIDE.test(text);
}

/** Words that need a grammatical object after them, like the end of `I finish with`. So do the words in `WRITES`. */
const LEADS = anyWord('with|to|for|no|then', 'mit|danach', 'par|puis', 'con');
const TAKES_IT = new RegExp(
  `(?:${WRITES.source}|${LEADS.source}|${WRITES_INSIDE.source}|写|然后是)\\s*$`,
  'iu',
);

/** Whether the last word of a text needs what follows the text as its grammatical object. */
export function takesObject(text: string): boolean {
  return TAKES_IT.test(text.slice(-LONGEST));
}

const POINTS_BELOW = anyWord(
  'below|next line',
  'unten|nachstehende\\p{L}*',
  'ci-dessous',
  'abajo|a continuación',
  'أدناه',
  'नीचे',
);
/** Words that point below only in a sentence about writing: `The following tests pass` does not point below. */
const FOLLOWS = anyWord('following', '(?:nach)?folgende\\p{L}?', 'suivante?s?', 'siguientes?');
const POINTS_BELOW_INSIDE = /以下|下の|次の行|下面/u;

/** Whether the last sentence of a text points at the text below it. */
export function pointsBelow(text: string): boolean {
  const sentence = lastSentence(text);
  if (POINTS_BELOW.test(sentence) || POINTS_BELOW_INSIDE.test(sentence)) return true;
  return FOLLOWS.test(sentence) && isOnWriting(sentence);
}

const TO_DO = anyWord(
  'next|remaining|left|to ?do|still|plan|outstanding|pending|blockers?|blocked|(?:is|are) missing',
  'open (?:issues|items|points|questions|tasks)|incomplete|unfinished',
  'not (?:yet )?(?:done|finished|complete)',
  'nächste\\p{L}*|offene?\\p{L}?|noch|ausstehend\\p{L}*|verbleibend\\p{L}*|fehl(?:t|en)',
  'reste(?:nt)?|restante?s?|à faire|prochaines|manque(?:nt)?|en attente',
  'faltan?|quedan?|restantes?|pendientes?|próximos',
);
const TO_DO_INSIDE = /残り|次の|待办|剩余|下一步|المتبقي|बाकी/u;

/** Whether the title of a list says that its items are still to be done. */
export function namesWhatIsToDo(title: string): boolean {
  return TO_DO.test(title) || TO_DO_INSIDE.test(title);
}

/** How much of a text is read, in UTF-16 code units. Without a bound, patterns that search for an end are slow. */
const LONGEST = 240;

function lastSentence(text: string): string {
  const said = text.slice(-LONGEST).replace(/[。！।۔]$/u, '');
  return said.split(/[.!?…]["'”’»)*_]*\s|[。！？।؟۔]/u).at(-1) ?? '';
}
