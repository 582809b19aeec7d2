import { getNodeValue } from 'jsonc-parser';
import { readJsonList } from './json-list.ts';
import { JsonMistake, readJsonSeries } from './json-tree.ts';
import type { ListItem, ReadList } from './list-item.ts';
import { checkedList } from './read-list.ts';

/** The commands for a list that is not a file. Ids and proofs reach a command only as environment variables. */
export interface SourceCommands {
  readonly list: string;
  /** Claims an item, so that nobody else works on it; null if no command is needed. */
  readonly claim: string | null;
  /** Reports to the source that an item is done; null if nothing is reported. */
  readonly done: string | null;
}

interface SourceRow extends SourceCommands {
  /** Prints all items that a run may work on, including waiting ones; null if `list` already prints all. */
  readonly known: string | null;
  readonly variables: Readonly<Record<string, string>>;
  readonly needsLabel: boolean;
  readonly read: (shown: string, text: string, label: string) => ReadList;
}

/** The query for the issues of a repository. The issues that block them may be in other repositories. */
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

/** The lists that ralph knows by name. For any other list, the user gives the commands with `--from`. */
const LIST_SOURCES: Readonly<Record<'github' | 'beads', SourceRow>> = {
  github: {
    list: `gh api graphql --paginate -F owner='{owner}' -F name='{repo}' -f label="$RALPH_LABEL" -f query='${ISSUES}'`,
    claim: null,
    // Others see an issue, so ralph must not close it before the work is pushed.
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
    // `bd ready` prints only the items that wait for nothing.
    known: 'bd list --status open --json --limit 0',
    // A daemon of bd would not live long: ralph would end it together with the command that started it.
    variables: { BEADS_NO_DAEMON: '1' },
    needsLabel: false,
    read: readBeads,
  },
};

/** Returns the list that ralph knows by this name; null if there is none. */
export function sourceNamed(name: string): SourceRow | null {
  return name === 'github' || name === 'beads' ? LIST_SOURCES[name] : null;
}

/** The name of the source whose list the command of `--from` prints. */
export const FROM = 'from';

/** Reads the list that a source's command has printed. `shown` names the command in problems. */
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

/** Returns a problem for each id that a command could mistake for something else, such as a flag. */
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

/** Reads the output of bd. `bd ready` only prints items whose blockers are done, so blockers are dropped. */
function readBeads(shown: string, text: string): ReadList {
  const read = readJsonList(shown, text, [], false);
  if ('problems' in read) return read;
  const { list } = read;
  return { list: { ...list, items: list.items.map((item) => ({ ...item, blockers: [] })) } };
}

/** Reads the answers of GitHub, which are one JSON text for each page. */
function readIssues(shown: string, text: string, label: string): ReadList {
  const pages = readJsonSeries(text);
  const repositories =
    pages instanceof JsonMistake
      ? []
      : pages.map((page) => fieldsOf(fieldsOf(getNodeValue(page)).data).repository);
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
 * Returns when an issue was last labelled or reopened, and whether its text was changed after it was labelled. Only
 * trusted people can label, but the author can edit the text at any time. GitHub's times can be compared as texts.
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
  // GitHub ignores case in the names of labels.
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

/** Returns a repository as `host/owner/name`; null if GitHub's answer does not name it. */
function repositoryOf({ url, nameWithOwner }: Readonly<Record<string, unknown>>): string | null {
  const [, place] = /^https?:\/\/([^/]+\/[^/]+\/[^/]+)$/.exec(textOf(url)) ?? [];
  return place ?? (typeof nameWithOwner === 'string' ? `github.com/${nameWithOwner}` : null);
}

/** Returns environment variables that bind `gh` to a repository, even if an agent changes the work tree's remotes. */
export function repositoryVariables(
  repository: string | undefined,
): Readonly<Record<string, string>> {
  if (repository === undefined) return {};
  return { GH_REPO: repository, GH_HOST: repository.split('/')[0] ?? '' };
}

/**
 * Whether a git remote can be on `host`, which answered `gh api`: it may be just the default host of gh. A name
 * without a dot can be an ssh alias of any host, and an alias can also begin with the name of its host and a dash.
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
