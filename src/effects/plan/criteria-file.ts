import { readCriteria } from '../../core/judge/criteria.ts';
import { judgeOf } from '../../core/settings/judge-setting.ts';
import type { SourcedSettings } from '../../core/settings/setting-source.ts';
import { messageOf } from '../../errors.ts';
import { MB, readTextWithin } from '../files/bounded-read.ts';

/**
 * Returns the settings with the criteria in the file of `--criteria` added to those of `--criterion`, so that a later
 * edit of the file changes nothing. Adds what is wrong to `problems`.
 */
export function withCriteria<T extends SourcedSettings>(
  request: T,
  file: (name: string) => string,
  problems: string[],
): T {
  const { settings, sources } = request;
  if (settings.criteria === null) return request;
  // Without a judge, which checks the criteria, problems of the file do not matter yet: a resume may set a judge.
  const isJudged = judgeOf(settings) !== null;
  if (!isJudged && sources.criteria.kind === 'flag') return request;
  const { where } = sources.criteria;
  const path = file(settings.criteria);
  const read = textOf(path);
  if ('why' in read) {
    if (isJudged) problems.push(`${where} expects a file that can be read; found: ${read.why}.`);
    return request;
  }
  const found = readCriteria(read.text);
  if (found.length === 0) {
    if (!isJudged) return request;
    problems.push(`${where} expects a criterion in a list item or a line; found none in ${path}.`);
  }
  const criterion = [...settings.criterion, ...found];
  return {
    ...request,
    settings: { ...settings, criterion, criteria: null },
    sources: settings.criterion.length > 0 ? sources : { ...sources, criterion: sources.criteria },
  };
}

function textOf(path: string): { readonly text: string } | { readonly why: string } {
  try {
    return { text: readTextWithin(path, MB) };
  } catch (error) {
    return { why: messageOf(error) };
  }
}
