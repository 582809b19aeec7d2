import { readJsonList } from './json-list.ts';
import { isMistake, plainValue, readJsonSeries } from './json-tree.ts';
import type { ListItem, ReadList } from './list-item.ts';
import { checkedList } from './read-list.ts';

/** The commands of a list that is no file. The shell gets ids and proofs in variables, and never as words of its own. */
export interface SourceCommands {
  readonly list: string;
  /** Takes an item, so that nobody else works on it; null if nothing is to be called. */
  readonly claim: string | null;
  /** Is told of an item that is done; null if nobody is. */
  readonly done: string | null;
}

interface SourceRow extends SourceCommands {
  /** Prints the items that a run may come to, also those which wait; null if `list` prints them all. */
  readonly known: string | null;
  /** What its commands find in their environment. */
  readonly variables: Readonly<Record<string, string>>;
  readonly needsLabel: boolean;
  readonly read: (shown: string, text: string, label: string) => ReadList;
}

/** Asks for what a list needs to know of issues. The repository of a blocker may be another one. */
const ISSUES = `
query($owner: String!, $name: String!, $label: String!, $endCursor: String) {
  repository(owner: $owner, name: $name) {
    nameWithOwner url
    issues(first: 50, after: $endCursor, labels: [$label], states: OPEN, orderBy: {field: CREATED_AT, direction: ASC}) {
      nodes {
        number title body createdAt lastEditedAt
        labels(first: 20) { nodes { name } }
        blockedBy(first: 50) { nodes { number state repository { nameWithOwner } } }
        timelineItems(last: 50, itemTypes: [LABELED_EVENT, RENAMED_TITLE_EVENT, REOPENED_EVENT]) {
          nodes {
            __typename
            ... on LabeledEvent { createdAt label { name } }
            ... on RenamedTitleEvent { createdAt }
            ... on ReopenedEvent { createdAt }
          }
        }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
}`
  .trim()
  .replace(/\s+/g, ' ');

/** The lists that have a name of their own. A person gives the commands of others with `--from`. */
const LIST_SOURCES: Readonly<Record<'github' | 'beads', SourceRow>> = {
  github: {
    list: `gh api graphql --paginate -F owner='{owner}' -F name='{repo}' -f label="$RALPH_LABEL" -f query='${ISSUES}'`,
    claim: null,
    // Work that nobody has pushed must not close an issue that everybody sees.
    done: null,
    known: null,
    variables: {},
    needsLabel: true,
    read: readIssues,
  },
  beads: {
    list: 'bd ready --json --limit 0',
    claim: 'bd update "$RALPH_ITEM_ID" --claim',
    done: 'bd close "$RALPH_ITEM_ID" --reason "$RALPH_ITEM_PROOF"',
    // `bd ready` prints a bead only once nothing keeps it waiting any more.
    known: 'bd list --status open --json --limit 0',
    // A daemon that bd leaves behind would be ended with the command that started it.
    variables: { BEADS_NO_DAEMON: '1' },
    needsLabel: false,
    read: readBeads,
  },
};

/** Returns the list that has this name of its own; null if none has. */
export function sourceNamed(name: string): SourceRow | null {
  return name === 'github' || name === 'beads' ? LIST_SOURCES[name] : null;
}

/** The name of the list that `--from` prints. */
export const FROM = 'from';

/** Reads what the command of a source has printed. `shown` names it in problems. */
export function readPrinted(
  source: string,
  shown: string,
  text: string,
  { tags = [], label = '' }: { readonly tags?: readonly string[]; readonly label?: string } = {},
): ReadList {
  const row = sourceNamed(source);
  const read = row === null ? readJsonList(shown, text, tags, false) : row.read(shown, text, label);
  const list = checkedList(shown, read);
  if ('problems' in list) return list;
  const problems = idProblems(shown, list.list.items);
  return problems.length > 0 ? { problems } : list;
}

const LONGEST_ID = 200;

/** Refuses ids that a command could take for something else than an id. */
export function idProblems(
  shown: string,
  items: readonly { readonly id: string }[],
): readonly string[] {
  return items.flatMap(({ id }) =>
    id.length <= LONGEST_ID && !/^-|\p{C}/u.test(id)
      ? []
      : [
          `${shown} expects ids of at most ${LONGEST_ID} characters, without control signs and without a dash in front, since commands get them; found ${JSON.stringify(id.slice(0, LONGEST_ID))}.`,
        ],
  );
}

/** `bd ready` prints what waits for nothing, so that the blockers which it names are done. */
function readBeads(shown: string, text: string): ReadList {
  const read = readJsonList(shown, text, [], false);
  if ('problems' in read) return read;
  const { list } = read;
  return { list: { ...list, items: list.items.map((item) => ({ ...item, blockers: [] })) } };
}

/** Reads the answers of GitHub, one for each page. */
function readIssues(shown: string, text: string, label: string): ReadList {
  const pages = readJsonSeries(text);
  const repositories = isMistake(pages)
    ? []
    : pages.map((page) => fieldsOf(fieldsOf(plainValue(page)).data).repository);
  const issues = repositories.map((repository) => fieldsOf(fieldsOf(repository).issues).nodes);
  if (issues.length === 0 || !issues.every(Array.isArray)) {
    return { problems: [`${shown} expects pages with the issues of a repository; found none.`] };
  }
  const found = repositories.flatMap((repository) => {
    const { nameWithOwner, issues: page } = fieldsOf(repository);
    return nodesOf(page).map((issue) => ({
      fields: itemOf(issue, nameWithOwner),
      times: labelTimes(fieldsOf(issue), label),
    }));
  });
  const issuesText = JSON.stringify(found.map(({ fields }) => fields));
  const read = readJsonList(shown, issuesText, [], false);
  if ('problems' in read) return read;
  const items = read.list.items.map((item, at): ListItem => {
    const { askedAt = null, isChanged = false } = found[at]?.times ?? {};
    return { ...item, createdAt: askedAt, standing: isChanged ? 'left-out' : item.standing };
  });
  const notices = items.flatMap(({ id, standing }) =>
    standing === 'left-out'
      ? [
          `issue ${id} was edited after it was labelled, so it is left out; read it, and label it again.`,
        ]
      : [],
  );
  const repository = repositoryOf(fieldsOf(repositories[0]));
  return {
    list: { ...read.list, items, notices, ...(repository === null ? {} : { repository }) },
  };
}

/**
 * Returns when somebody with the right to label last asked for an issue, and whether its text has another state than
 * they saw: its author may edit it without that right. The times of GitHub can be compared as texts.
 */
function labelTimes(
  { createdAt, lastEditedAt, timelineItems }: Readonly<Record<string, unknown>>,
  label: string,
): { readonly askedAt: string; readonly isChanged: boolean } {
  const events = nodesOf(timelineItems).map(fieldsOf);
  const last = (isMeant: (event: Readonly<Record<string, unknown>>) => boolean): string =>
    events
      .filter(isMeant)
      .map((event) => textOf(event.createdAt))
      .reduce((one, other) => (other > one ? other : one), '');
  // Names of labels are the same in either case.
  const isLabel = (name: unknown): boolean => textOf(name).toLowerCase() === label.toLowerCase();
  const labelledAt = last(
    ({ __typename: type, label: of }) => type === 'LabeledEvent' && isLabel(fieldsOf(of).name),
  );
  const renamedAt = last(({ __typename: type }) => type === 'RenamedTitleEvent');
  const reopenedAt = last(({ __typename: type }) => type === 'ReopenedEvent');
  const seenAt = labelledAt === '' ? textOf(createdAt) : labelledAt;
  return {
    askedAt: reopenedAt > seenAt ? reopenedAt : seenAt,
    isChanged: [textOf(lastEditedAt), renamedAt].some((at) => at !== '' && at >= seenAt),
  };
}

/** Returns `host/owner/name`; null if GitHub has named none. */
function repositoryOf({ url, nameWithOwner }: Readonly<Record<string, unknown>>): string | null {
  const [, place] = /^https?:\/\/([^/]+\/[^/]+\/[^/]+)$/.exec(textOf(url)) ?? [];
  return place ?? (typeof nameWithOwner === 'string' ? `github.com/${nameWithOwner}` : null);
}

/** Returns the variables by which `gh` stays with a repository, whatever an agent does to the remotes of the work tree. */
export function repositoryVariables(
  repository: string | undefined,
): Readonly<Record<string, string>> {
  if (repository === undefined) return {};
  return { GH_REPO: repository, GH_HOST: repository.split('/')[0] ?? '' };
}

/**
 * Whether the answer of `host` can be about the repository of these remotes: `gh api` asks its default host for the
 * names of the remote, which may be another one. What ssh calls a host may be any name, or the host's with an addition.
 */
export function isHostOfRemotes(host: string, remotes: string): boolean {
  const hosts = remotes.split('\n').flatMap((line) => {
    const found = /\t(?:[a-z+]+:\/\/(?:[^/@]*@)?([\w.-]+)|(?:[^/@:]+@)?([\w.-]+):(?!\/\/))/i.exec(
      line,
    );
    const name = found?.[1] ?? found?.[2];
    return name === undefined ? [] : [name.toLowerCase()];
  });
  const known = hosts.filter((name) => name.includes('.'));
  return (
    known.length < hosts.length ||
    known.length === 0 ||
    known.some((name) => name.replace(/^(?:ssh|www)\./, '') === host || name.startsWith(`${host}-`))
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function itemOf(issue: unknown, repository: unknown): object {
  const { number: id, title, body, createdAt, labels, blockedBy } = fieldsOf(issue);
  const blockers = nodesOf(blockedBy).map(fieldsOf);
  return {
    ...{ id, title, body, createdAt },
    labels: nodesOf(labels).map((label) => fieldsOf(label).name),
    blockedBy: blockers.flatMap(({ number, state, repository: of }) => {
      if (state !== 'OPEN') return [];
      const { nameWithOwner: other = repository } = fieldsOf(of);
      return other === repository ? [number] : [`${other}#${number}`];
    }),
  };
}

function nodesOf(page: unknown): readonly unknown[] {
  const { nodes } = fieldsOf(page);
  return Array.isArray(nodes) ? nodes : [];
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
