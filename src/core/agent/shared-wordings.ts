import { type FailureKind, failureIn, type ToldFailure, type Wording } from './wordings.ts';

/*
 * What services say about an account or a request, through any agent and with any HTTP status. This list is read
 * before an agent's own wordings, and only for error reports. A wording is a whole statement about the account, not
 * a single word: a missed wording costs a retry of three seconds, but a false match ends a good run.
 */

/** The words that may stand between `your` and `limit`. The limit of a context window or a disk is not a plan limit. */
const KIND =
  "(?:(?:usage|rate|global|hour(?:ly)?|daily|weekly|monthly|session|plan|account|workspace|subscription(?:['’]s)?|org(?:anization)?(?:['’]s)?|team(?:['’]s)?|model|request|requests|premium|free|credit|message|spend|spending|specified|extra|api|quota|opus|sonnet|haiku|claude|[a-z]*\\d[\\w.-]*|[a-z]+-\\d[\\w.-]*) )";

/** Words for a period or a plan. With one of them, `limit` needs no `your` before it. */
const PERIOD =
  '(?:(?:usage|hourly|daily|weekly|monthly|session|plan|opus|sonnet|haiku|5[- ]hour) ){1,3}';

/** Requires that the statement ends here or goes on with `for` or `on`: `usage limit reached page` reports no limit. */
const END_OF_LIMIT =
  '(?=\\s*(?:$|[.,:;!](?![^\\s"\'\\])}])|[|·∙•\\]"()-])|\\s+(?:for|on|that restricts)\\b)';

/** The wordings of each meaning, as sources of regular expressions that are matched from the start of a statement. */
const STATEMENTS: readonly (readonly [FailureKind, readonly string[]])[] = [
  [
    'transient',
    [
      // Another process is renewing the login token.
      '(?:[^.\\n]{0,60}: )?another (?:\\w+ ){0,3}process is refreshing',
      '(?:this|it) is usually transient\\b',
      // A captive portal or a gateway answered instead of the service.
      '(?:the )?api returned an empty or malformed response\\b',
    ],
  ],
  [
    'usage-limited',
    [
      `you(?:['’]ve| have) (?:hit|reached|exceeded) (?:your ${KIND}{0,5}|(?:a|the) ${KIND}{1,5})(?:limits?|quota)${END_OF_LIMIT}`,
      `you(?:['’]ve| have) exhausted your ${KIND}{0,5}(?:quota|capacity)${END_OF_LIMIT}`,
      `(?:your |claude |claude ai )?${PERIOD}(?:limit|quota) (?:reached|exceeded|exhausted)${END_OF_LIMIT}`,
      `(?:the |your )${PERIOD}(?:limit|quota) (?:has been|was) (?:reached|exceeded|exhausted)${END_OF_LIMIT}`,
      `you['’]re out of (?:extra )?usage${END_OF_LIMIT}`,
      `free usage exceeded${END_OF_LIMIT}`,
      `(?:qwen oauth|free allocated) quota exceeded${END_OF_LIMIT}`,
    ],
  ],
  [
    'no-credit',
    [
      '(?:insufficient (?:account |credit )?(?:balance|credits?|funds)|not enough credits?)\\b',
      'you have no (?:quota|credits?)(?: left| remaining)?\\b',
      '(?:your )?credit balance is too low\\b',
      '(?:you|your (?:account|workspace))(?: have| has)? (?:run |ran |are |is )?out of credits?\\b',
    ],
  ],
  [
    'refused-request',
    [
      // Waiting does not help here: a person has to change the request or the account.
      'extra usage is required for\\b',
      '[^.\\n]{0,80}\\bturn on usage credits at\\b',
      '(?:your \\w+ belongs to a disabled organization|this organization has been disabled)\\b',
    ],
  ],
  [
    'not-logged-in',
    [
      '(?:your )?(?:oauth|access|api) (?:session|token|key) (?:has |is )?(?:expired|revoked|been revoked)\\b',
      'your (?:session|login|token) (?:has )?expired\\b',
      'your access token could not be refreshed\\b',
      '(?:failed to refresh (?:the |your )?(?:oauth |access )?token\\b)',
      '(?:your )?refresh token (?:has (?:already )?been|was(?: already)?|has|is) (?:used|expired|revoked|invalid)\\b',
      'please log out and (?:log|sign) in again\\b',
      '(?:you are )?not logged in\\b',
      'please run /login\\b',
      'invalid api key\\b',
    ],
  ],
];

/**
 * Where a statement begins: at the start of a line, after a label or another statement, or as a text in JSON.
 * What follows `says:` or a quotation mark is not a statement about this account.
 */
const BEGIN =
  '(?:^|(?<!\\b(?:says?|said|wrote|reads?))[.:;·•∙|–—[][ \\t]*|":[ \\t]*")(?:[45]\\d\\d[ \\t]+)?(?:sorry, )?';

/** An untrusted certificate. Waiting does not help, even if the message also says "unable to connect". */
const UNTRUSTED: Wording = {
  pattern:
    /self[- ]signed certificate|unable to (?:verify the first|get (?:local )?issuer) certificate|certificate (?:has expired|is not trusted|verify failed|signed by unknown authority)|invalid peer certificate|\b(?:UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT\w*|(?:DEPTH_ZERO_)?SELF_SIGNED_CERT\w*|CERT_HAS_EXPIRED|ERR_TLS_CERT_ALTNAME_INVALID)\b/i,
  means: 'unknown',
};

const IN_REPORTS: readonly Wording[] = [UNTRUSTED, ...STATEMENTS.map(wording(BEGIN, 'im'))];
const AT_THE_START: readonly Wording[] = STATEMENTS.map(wording('^(?:[45]\\d\\d )?', 'i'));

function wording(begin: string, flags: string) {
  return ([means, sources]: (typeof STATEMENTS)[number]): Wording => ({
    pattern: new RegExp(`${begin}(?:${sources.join('|')})`, flags),
    means,
  });
}

/** Matches words about other things that have accounts, too: an MCP server, or npm. */
export const OF_A_TOOL = /\bMCP\b|\btools?\b|^npm (?:notice|warn)\b/i;

/** Returns what an agent's error report says about the account or the request, or null if no wording matches. */
export function sharedFailure(report: string): ToldFailure | null {
  const told = failureIn(report, IN_REPORTS, false);
  return told === null || OF_A_TOOL.test(told.words) ? null : told;
}

/** Does the same as `sharedFailure` for a line of a command's output. Only the start of the line counts. */
export function sharedFailureAtStart(line: string): ToldFailure | null {
  return failureIn(line, AT_THE_START, false);
}

/** What services and networks say about a failure that passes by itself. */
const PASSING = new RegExp(
  [
    String.raw`(?<!-)\brate[- ]limit(?:s|ed|ing)?\b|\btoo many requests\b|\boverloaded\b|\bat capacity\b`,
    String.raw`\b(?:high|heavy|exceptional) (?:demand|load|traffic)\b|\btemporar(?:y|ily) (?:unavailable|down|limit|outage|error)`,
    String.raw`\b(?:service|server|model|api|system) (?:is )?(?:currently )?(?:unavailable|busy|down)\b`,
    String.raw`\bbad gateway\b|\bgateway time-?out\b|\binternal server error\b|\binternal error (?:has |was )?(?:occurred|encountered)\b`,
    String.raw`\btry (?:your request )?again (?:later|soon|in a)\b|\bwait a (?:few|moment|minute|while)\b`,
    String.raw`\b(?:poor|no|lost) (?:internet|network) connection\b|\bnetwork error\b|\bfetch failed\b|\bsocket hang up\b`,
    String.raw`\bconnection (?:error|refused|reset|lost|closed|timed out)\b|\b(?:request|response|read) timed out\b`,
    String.raw`\bE(?:CONNREFUSED|CONNRESET|NOTFOUND|TIMEDOUT|AI_AGAIN)\b|\bunable to connect to (?:the )?api\b`,
    String.raw`\bstream (?:disconnected|ended|idle timeout)\b|\bfailed to get (?:a )?response from the (?:ai )?model\b`,
  ].join('|'),
  'i',
);
/** What does not pass, even if the report adds that one may try again later. */
const LASTING =
  /\b(?:suspended|banned|deactivated|disabled|retired|discontinued|deprecated|unsupported|not supported|no longer (?:available|supported))\b|\b(?:on|in|with|by) your (?:\w+ )?plan\b|\b(?:please|to|must) (?:log|sign) in\b/i;
/** Words for what an account may use. Next to one of them, the time of a reset is that of a plan limit. */
const ALLOWANCE = /\b(?:limits?|cap|quota|usage|credits?|allowance|budget)\b/i;

/**
 * Returns what an error report means if it says, in words that no other list has, that the failure passes by itself;
 * otherwise null. `namesReset`: whether the report names the time of a reset. Ask this last, and only if the agent
 * has not worked: after a wrong match, ralph waits for up to `--max-wait`.
 */
export function passingFailure(report: string, namesReset: boolean): FailureKind | null {
  if (OF_A_TOOL.test(report) || LASTING.test(report)) return null;
  if (namesReset && ALLOWANCE.test(report)) return 'usage-limited';
  return PASSING.test(report) ? 'transient' : null;
}
