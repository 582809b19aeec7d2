import { readJsonList } from './json-list.ts';
import { isMistake, plainValue, readJsonSeries } from './json-tree.ts';
import type { ReadList } from './list-item.ts';
import { checked } from './read-list.ts';

/** The commands of a list that is no file. The shell gets ids and proofs in variables, and never as words of its own. */
export interface SourceCommands {
  /** Prints the list. */
  readonly list: string;
  /** Takes an item, so that nobody else works on it; null if nothing is to be called. */
  readonly claim: string | null;
  /** Is told of an item that is done; null if nobody is. */
  readonly done: string | null;
}

interface SourceRow extends SourceCommands {
  /** What its commands find in their environment. */
  readonly variables: Readonly<Record<string, string>>;
  readonly needsLabel: boolean;
  readonly read: (shown: string, text: string) => ReadList;
}

/** Asks for what a list needs to know of issues. The repository of a blocker may be another one. */
const ISSUES = `
query($owner: String!, $name: String!, $label: String!, $endCursor: String) {
  repository(owner: $owner, name: $name) {
    nameWithOwner
    issues(first: 50, after: $endCursor, labels: [$label], states: OPEN, orderBy: {field: CREATED_AT, direction: ASC}) {
      nodes {
        number title body createdAt
        labels(first: 20) { nodes { name } }
        blockedBy(first: 50) { nodes { number state repository { nameWithOwner } } }
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
    variables: {},
    needsLabel: true,
    read: readIssues,
  },
  beads: {
    list: 'bd ready --json --limit 0',
    claim: 'bd update "$RALPH_ITEM_ID" --claim',
    done: 'bd close "$RALPH_ITEM_ID" --reason "$RALPH_ITEM_PROOF"',
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
  tags: readonly string[] = [],
): ReadList {
  const row = sourceNamed(source);
  const read = row === null ? readJsonList(shown, text, tags, false) : row.read(shown, text);
  const list = checked(shown, read);
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
function readIssues(shown: string, text: string): ReadList {
  const pages = readJsonSeries(text);
  const repositories = isMistake(pages)
    ? []
    : pages.map((page) => fieldsOf(fieldsOf(plainValue(page)).data).repository);
  const issues = repositories.map((repository) => fieldsOf(fieldsOf(repository).issues).nodes);
  if (issues.length === 0 || !issues.every(Array.isArray)) {
    return { problems: [`${shown} expects pages with the issues of a repository; found none.`] };
  }
  const items = repositories.flatMap((repository) => {
    const { nameWithOwner, issues: page } = fieldsOf(repository);
    return nodesOf(page).map((issue) => itemOf(issue, nameWithOwner));
  });
  const read = readJsonList(shown, JSON.stringify(items), [], false);
  const { nameWithOwner: repository } = fieldsOf(repositories[0]);
  if ('problems' in read || typeof repository !== 'string') return read;
  return { list: { ...read.list, repository } };
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
