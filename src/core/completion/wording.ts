/*
 * Words that tell how text beside a promise is meant. They only choose between a question and a decision that
 * is safe anyway, so a word that is missing here makes no task complete; rules of shape do the rest.
 */

/** Returns a pattern for whole words. Marks count as letters, since Hindi writes vowels with them. */
function anyWord(...words: readonly string[]): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{M}])(?:${words.join('|')})(?![\\p{L}\\p{M}])`, 'iu');
}

/** Says that something is not, or not yet: English, German, French, Spanish. */
const DENIES = anyWord(
  "not|cannot|\\p{L}+n['’]t|never|until|unless|will|shall|would|should|\\p{L}+['’]ll",
  'nicht|nie|nein|werde|würde',
  'non|pas|jamais',
  'nunca|no (?:puedo|está|voy)',
);
/** The same in Japanese, Chinese, Arabic and Hindi, as parts of words. */
const DENIES_INSIDE = /できない|できません|いません|まだ|尚未|还没|不能|لن |ليس|नहीं/u;
/** Begins a condition. Only as the first word: `All pass after the fix` is none. */
const CONDITION =
  /^[\s*_>-]*(?:(?:and|only|then),? )?(?:(?:if|when|once|after|as soon as|wenn|falls|sobald|si|quand|dès que|cuando)(?!\p{L})|如果|一旦|إذا|अगर|जब)|(?:たら|れば)[、,:：]?\s*$/iu;
const SAYS_NO = /[❌🚫⛔✗✘⏳🚧🔴]/u;

/** Whether the last sentence of a text is negated, conditional or to come. */
export function isHedged(text: string): boolean {
  const sentence = lastSentence(text);
  return [DENIES, DENIES_INSIDE, CONDITION, SAYS_NO].some((words) => words.test(sentence));
}

/** Whether a line has a sign that says no. */
export function saysNo(line: string): boolean {
  return SAYS_NO.test(line);
}

/** Asks for something to be written. */
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

/** Leads to its object, beside the words that ask for writing: `I finish with`, `blocked; no`. */
const LEADS = anyWord('with|to|for|no|then', 'mit|danach', 'par|puis', 'con');
const TAKES_IT = new RegExp(
  `(?:${WRITES.source}|${LEADS.source}|${WRITES_INSIDE.source}|写|然后是)\\s*$`,
  'iu',
);

/** Whether what stands behind a text is the object of its last word. */
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
/** Only what is written follows: `The following tests pass` points nowhere. */
const FOLLOWS = anyWord('following', '(?:nach)?folgende\\p{L}?', 'suivante?s?', 'siguientes?');
const POINTS_BELOW_INSIDE = /以下|下の|次の行|下面/u;

/** Whether the last sentence of a text points at what stands below it. */
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

/** Whether the title of a list says that the list is still to be done. */
export function namesWhatIsToDo(title: string): boolean {
  return TO_DO.test(title) || TO_DO_INSIDE.test(title);
}

/** In UTF-16 code units: patterns that search for an end need a bound. */
const LONGEST = 240;

function lastSentence(text: string): string {
  const said = text.slice(-LONGEST).replace(/[。！।۔]$/u, '');
  return said.split(/[.!?…]["'”’»)*_]*\s|[。！？।؟۔]/u).at(-1) ?? '';
}
