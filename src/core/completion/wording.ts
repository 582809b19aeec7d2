import { CHEERS } from '../markdown/sentence.ts';

/*
 * Words that tell how text beside a promise is meant. They only choose between a question and a decision that
 * is safe anyway, so a word that is missing here makes no task complete; rules of shape do the rest.
 */

/** Returns a pattern for whole words. Marks count as letters, since Hindi writes vowels with them. */
function anyWord(words: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{M}])(?:${words})(?![\\p{L}\\p{M}])`, 'iu');
}

/** Says that something is not, or not yet: English, German, French, Spanish. */
const DENIES = anyWord(
  [
    "not|cannot|\\p{L}+n['’]t|never|until|unless|will|shall|would|should|\\p{L}+['’]ll",
    'nicht|nie|werde|würde',
    'pas|jamais',
    'nunca|no (?:puedo|está|voy)|todavía',
  ].join('|'),
);
/** The same in Japanese, Chinese, Arabic and Hindi, as parts of words. */
const DENIES_INSIDE = /できない|できません|いません|まだ|尚未|还没|不能|لن |ليس|नहीं/u;
/** Begins a condition. Only as the first word: `All pass after the fix` is none. */
const CONDITION =
  /^[\s*_>-]*(?:(?:and|only|then),? )?(?:(?:if|when|once|after|as soon as|wenn|falls|sobald|si|quand|dès que|cuando)(?!\p{L})|如果|一旦|إذا|अगर|जब)|(?:たら|れば)[、,:：]?\s*$/iu;
/** The end of a sentence, for finding the last one. */
const BETWEEN_SENTENCES = /[.!?…]["'”’»)*_]*\s|[。！？।؟۔]/u;
const SAYS_NO = /[❌🚫⛔✗✘⏳🚧🔴]/u;

/** Whether the last sentence of a text is negated, conditional or to come. */
export function isHedged(text: string): boolean {
  const sentence = lastSentence(text);
  return [DENIES, DENIES_INSIDE, CONDITION, SAYS_NO].some((words) => words.test(sentence));
}

/** Says that something is written, as the first words of a line that wants the promise to follow. */
const WRITES = anyWord(
  [
    'print|output|write|say|emit|post|reply|answer|end|finish|close',
    'gib|schreibe?|sage?|ende',
    'affiche|écris|dis|termine',
    'imprime|escribe|di|muestra',
  ].join('|'),
);
const WRITES_INSIDE = /出力|表示|输出|打印|اكتب|اطبع|लिखें/u;
/** Points at what stands below. */
const POINTS_BELOW = anyWord(
  [
    'below|next line',
    'unten|untenstehende\\p{L}*|nachstehende\\p{L}*',
    'ci-dessous',
    'abajo|a continuación',
    'أدناه',
    'नीचे',
  ].join('|'),
);
const POINTS_BELOW_INSIDE = /以下|下の|次の行|下面|下列/u;

/** Takes the promise as its object, as the last word before it: `I end with`, `no`, `waiting for`. */
const TAKES_IT = new RegExp(
  `(?:${WRITES.source}|${anyWord('with|to|for|by|no|then|mit|par|avec|con|luego|puis|danach').source}|(?:${WRITES_INSIDE.source}|写|书写|再|会|然后是))\\s*$`,
  'iu',
);

/** Whether the promise right behind a text is what its last word is about. */
export function takesObject(text: string): boolean {
  return TAKES_IT.test(text.slice(-LONGEST));
}

/** Whether a text wants something to be written. */
export function isOnWriting(text: string): boolean {
  return WRITES.test(text) || WRITES_INSIDE.test(text);
}

/** Whether the last sentence of a text points at what stands below it. */
export function pointsBelow(text: string): boolean {
  const sentence = lastSentence(text);
  return POINTS_BELOW.test(sentence) || POINTS_BELOW_INSIDE.test(sentence);
}

/** Names a list of what is still to be done. */
const TO_DO = anyWord(
  [
    'next|remaining|remains|left|to ?do|still|plan',
    'noch|nächste\\p{L}*|offen',
    'reste|à faire|prochaines',
    'falta|pendientes?|próximos',
  ].join('|'),
);
const TO_DO_INSIDE = /残り|次の|待办|剩余|下一步|المتبقي|बाकी/u;

/** Whether the line above a list says that the list is still to be done. */
export function namesWhatIsToDo(line: string): boolean {
  return TO_DO.test(line) || TO_DO_INSIDE.test(line);
}

const CHEER_AT_THE_END = new RegExp(`(?:\\s|${CHEERS})+$`, 'u');
/** In UTF-16 code units: patterns that search for an end need a bound. */
const LONGEST = 240;

function lastSentence(text: string): string {
  const said = text
    .slice(-LONGEST)
    .replace(CHEER_AT_THE_END, '')
    .replace(/[.!。！।۔]["'”’»)*_]*$/u, '');
  return said.split(BETWEEN_SENTENCES).at(-1) ?? '';
}
