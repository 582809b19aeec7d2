import { CHINESE } from './chinese.ts';
import { DUTCH } from './dutch.ts';
import type { Ending } from './ending.ts';
import { ENGLISH } from './english.ts';
import { FRENCH } from './french.ts';
import { GERMAN } from './german.ts';
import { ITALIAN } from './italian.ts';
import { JAPANESE } from './japanese.ts';
import { POLISH } from './polish.ts';
import { PORTUGUESE } from './portuguese.ts';
import { RUSSIAN } from './russian.ts';
import { SPANISH } from './spanish.ts';
import { DATA, MARKDOWN, PRINTED, REPORTS } from './styles.ts';
import { TURKISH } from './turkish.ts';

type Tables = Readonly<Record<string, readonly Ending[]>>;

export const LANGUAGES: Tables = {
  Chinese: CHINESE,
  Dutch: DUTCH,
  English: ENGLISH,
  French: FRENCH,
  German: GERMAN,
  Italian: ITALIAN,
  Japanese: JAPANESE,
  Polish: POLISH,
  Portuguese: PORTUGUESE,
  Russian: RUSSIAN,
  Spanish: SPANISH,
  Turkish: TURKISH,
};

const STYLES: Tables = {
  Markdown: MARKDOWN,
  'what agents print': PRINTED,
  data: DATA,
  reports: REPORTS,
};

export const TABLES: Tables = { ...LANGUAGES, ...STYLES };

const ALL = Object.values(TABLES).flat();
export const UNFINISHED = ALL.filter(({ verdict }) => verdict === 'unfinished');
export const DONE = ALL.filter(({ verdict }) => verdict === 'done');
export const MISSED = ALL.filter(({ verdict }) => verdict === 'missed');
