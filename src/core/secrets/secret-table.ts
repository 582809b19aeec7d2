/*
 * Kinds of credentials that have a sign of the service that issues them, such as `ghp_`. Each kind is one row, from
 * which both the masking and the quick search before it are built.
 */

/** One kind of credential. Masking keeps its sign, so that a reader can tell what it was. */
interface Shape {
  readonly origin: string;
  /** The sign, as the source of a pattern. */
  readonly prefix: string;
  /** The characters of the secret part after the sign, as a character class. */
  readonly body: string;
  /** The length of the shortest secret part that counts. */
  readonly least: number;
}

/** A credential that begins with its sign. */
export interface PrefixShape extends Shape {
  /** Set if the sign is short or common. It must then not be inside a longer name or path. */
  readonly alone?: true;
  /** Set if the sign could also begin a name. The secret part must then mix digits, lower and upper case. */
  readonly mixed?: true;
  /** Set if the secret part has exactly the length `least`. A longer text is something else. */
  readonly exact?: true;
}

/** A credential with its sign in the middle or at the end. */
export interface InnerShape extends Shape {
  /** The secret part before the sign, as the source of a pattern of bounded length. */
  readonly lead: string;
  /** The pattern to search for first, if it is not `prefix`. */
  readonly sign?: string;
}

const PLAIN = '[A-Za-z0-9]';
const WORD = '[A-Za-z0-9_-]';
const NAME = '[A-Za-z0-9_]';
const DOTTED = '[A-Za-z0-9_.-]';
const BASE64 = '[A-Za-z0-9_+/=-]';
const HEX = '[0-9a-f]';
const UPPER = '[A-Z0-9]';
const LOWER = '[a-z0-9]';
const UUID = '[0-9a-f-]';
/** Matches nothing, for a credential that ends with its sign. */
const NONE = '[^\\s\\S]';

/** Credentials that begin with their sign. If one sign begins with another sign, the longer one comes first. */
export const PREFIX_SHAPES: readonly PrefixShape[] = [
  // Services for language models.
  { origin: 'Anthropic', prefix: 'sk-ant-[a-z]{2,8}\\d\\d-', body: WORD, least: 6 },
  { origin: 'Anthropic', prefix: 'sk-ant-', body: WORD, least: 24 },
  { origin: 'OpenAI', prefix: 'sk-(?:proj|svcacct|admin|None)-', body: WORD, least: 16 },
  { origin: 'OpenRouter', prefix: 'sk-or-v1-', body: WORD, least: 16 },
  { origin: 'Langfuse', prefix: 'sk-lf-', body: UUID, least: 36, exact: true },
  { origin: 'OpenAI and its like', prefix: 'sk-', body: PLAIN, least: 20 },
  { origin: 'Cartesia', prefix: 'sk_car_', body: PLAIN, least: 20 },
  { origin: 'Cerebras', prefix: 'csk-', body: PLAIN, least: 32 },
  { origin: 'xAI', prefix: 'xai-', body: PLAIN, least: 32 },
  { origin: 'Perplexity', prefix: 'pplx-', body: PLAIN, least: 24 },
  { origin: 'Together', prefix: 'tgp_v1_', body: WORD, least: 24 },
  { origin: 'Fireworks', prefix: 'fw_', body: PLAIN, least: 20, alone: true, mixed: true },
  { origin: 'Groq', prefix: 'gsk_', body: PLAIN, least: 30 },
  { origin: 'Replicate', prefix: 'r8_', body: PLAIN, least: 30 },
  { origin: 'NVIDIA', prefix: 'nvapi-', body: WORD, least: 40 },
  { origin: 'Voyage', prefix: 'pa-', body: WORD, least: 40, alone: true, mixed: true },
  { origin: 'Jina', prefix: 'jina_', body: WORD, least: 40, mixed: true },
  { origin: 'Tavily', prefix: 'tvly-', body: WORD, least: 24 },
  { origin: 'Firecrawl', prefix: 'fc-', body: HEX, least: 32, alone: true, exact: true },
  { origin: 'RunPod', prefix: 'rpa_', body: PLAIN, least: 40 },
  { origin: 'E2B', prefix: 'e2b_', body: HEX, least: 40 },
  { origin: 'LlamaCloud', prefix: 'llx-', body: PLAIN, least: 40 },
  { origin: 'LangSmith', prefix: 'lsv2_(?:pt|sk)_', body: '[0-9a-f_]', least: 32 },
  { origin: 'Pinecone', prefix: 'pcsk_', body: NAME, least: 40 },
  { origin: 'Hugging Face', prefix: 'hf_', body: PLAIN, least: 24 },
  { origin: 'Hugging Face', prefix: 'api_org_', body: PLAIN, least: 30 },
  // Code hosting and tools for developers.
  { origin: 'GitHub', prefix: 'gh[pousr]_', body: NAME, least: 20 },
  { origin: 'GitHub', prefix: 'github_pat_', body: NAME, least: 16 },
  {
    origin: 'GitLab',
    prefix: 'gl(?:pat|dt|rtr?|cbt|ptt|ft|soat|agent|imt|ffct|wt|oas)-',
    body: DOTTED,
    least: 16,
  },
  { origin: 'GitLab', prefix: 'GR1348941', body: WORD, least: 20 },
  { origin: 'Bitbucket', prefix: 'ATBB', body: PLAIN, least: 28, alone: true, mixed: true },
  { origin: 'Bitbucket', prefix: 'BBDC-', body: BASE64, least: 40 },
  { origin: 'Atlassian', prefix: 'AT(?:ATT|CTT)3', body: BASE64, least: 40 },
  { origin: 'Trello', prefix: 'ATTA', body: HEX, least: 64, alone: true },
  { origin: 'Sourcegraph', prefix: 'sgp_', body: NAME, least: 40 },
  { origin: 'CircleCI', prefix: 'CCI(?:PAT|PRJ)_', body: NAME, least: 40 },
  { origin: 'Buildkite', prefix: 'bk(?:ua|ct)_', body: NAME, least: 40 },
  { origin: 'SonarQube', prefix: 'sq[pua]_', body: HEX, least: 40 },
  { origin: 'Figma', prefix: 'fig[do]_', body: WORD, least: 32 },
  { origin: 'Postman', prefix: 'PMAK-', body: UUID, least: 40 },
  { origin: 'readme.com', prefix: 'rdme_', body: LOWER, least: 40 },
  // Package registries.
  { origin: 'npm', prefix: 'npm_', body: PLAIN, least: 30 },
  { origin: 'PyPI', prefix: 'pypi-', body: WORD, least: 30 },
  { origin: 'RubyGems', prefix: 'rubygems_', body: HEX, least: 40 },
  {
    origin: 'crates.io',
    prefix: 'cio',
    body: PLAIN,
    least: 32,
    alone: true,
    mixed: true,
    exact: true,
  },
  { origin: 'NuGet', prefix: 'oy2', body: LOWER, least: 43, alone: true, exact: true },
  { origin: 'Clojars', prefix: 'CLOJARS_', body: LOWER, least: 40 },
  { origin: 'Packagist', prefix: 'packagist_[a-z]{2,4}_', body: HEX, least: 40 },
  { origin: 'JFrog', prefix: 'AKCp', body: PLAIN, least: 40, alone: true, mixed: true },
  { origin: 'JFrog', prefix: 'cmVmdGtu', body: PLAIN, least: 40, alone: true },
  { origin: 'Docker Hub', prefix: 'dckr_[po]at_', body: WORD, least: 16 },
  // Clouds and hosting.
  { origin: 'Google API', prefix: 'AIza', body: WORD, least: 30 },
  { origin: 'Google OAuth', prefix: 'ya29\\.', body: DOTTED, least: 16 },
  { origin: 'Google OAuth refresh', prefix: '1//0', body: WORD, least: 30 },
  { origin: 'Google OAuth client', prefix: 'GOCSPX-', body: WORD, least: 16 },
  { origin: 'AWS Bedrock', prefix: 'ABSK', body: BASE64, least: 60, alone: true, mixed: true },
  { origin: 'AWS session', prefix: 'IQoJb3JpZ2lu', body: BASE64, least: 60 },
  { origin: 'AWS session', prefix: 'FwoGZXIvYXdz', body: BASE64, least: 60 },
  { origin: 'DigitalOcean', prefix: 'do[opr]_v1_', body: PLAIN, least: 30 },
  { origin: 'Heroku', prefix: 'HRKU-', body: WORD, least: 30 },
  { origin: 'Fly', prefix: 'fm[12][ar]?_', body: BASE64, least: 40 },
  { origin: 'Fly', prefix: 'fo1_', body: WORD, least: 40 },
  { origin: 'Vercel', prefix: 'vc[piark]_', body: PLAIN, least: 24 },
  { origin: 'Netlify', prefix: 'nf[pcu]_', body: PLAIN, least: 30 },
  { origin: 'Render', prefix: 'rnd_', body: PLAIN, least: 20, alone: true, mixed: true },
  { origin: 'Supabase', prefix: 'sbp_(?:v0_)?', body: HEX, least: 40 },
  { origin: 'Supabase', prefix: 'sb_secret_', body: WORD, least: 20 },
  { origin: 'PlanetScale', prefix: 'pscale_(?:tkn|pw|oauth)_', body: DOTTED, least: 30 },
  { origin: 'Neon', prefix: 'napi_', body: LOWER, least: 48 },
  { origin: 'Databricks', prefix: 'dapi', body: HEX, least: 32, alone: true },
  { origin: 'Tailscale', prefix: 'tskey-[a-z]{2,12}-', body: WORD, least: 20 },
  { origin: 'Alibaba', prefix: 'LTAI', body: PLAIN, least: 12, alone: true, mixed: true },
  { origin: 'Tencent', prefix: 'AKID', body: PLAIN, least: 28, alone: true, mixed: true },
  { origin: 'Yandex', prefix: 'AQVN', body: WORD, least: 30, alone: true, mixed: true },
  { origin: 'Baidu', prefix: 'bce-v3/ALTAK-', body: '[A-Za-z0-9/]', least: 40 },
  { origin: 'Akamai', prefix: 'akab-', body: '[a-z0-9-]', least: 33, exact: true },
  { origin: 'Cloudflare tunnel', prefix: 'eyJhIjoi', body: BASE64, least: 60 },
  { origin: 'Appwrite', prefix: 'standard_', body: HEX, least: 128 },
  // Infrastructure, secrets, identities.
  { origin: 'HashiCorp Vault', prefix: 'hv[sbr]\\.', body: WORD, least: 24 },
  { origin: 'Pulumi', prefix: 'pul-', body: HEX, least: 40, alone: true },
  { origin: 'Prefect', prefix: 'pn[ub]_', body: PLAIN, least: 30 },
  { origin: 'Infracost', prefix: 'ico-', body: PLAIN, least: 32, alone: true, mixed: true },
  { origin: 'Doppler', prefix: 'dp\\.(?:pt|ct|sa|scim|audit)\\.', body: PLAIN, least: 30 },
  { origin: 'Doppler', prefix: 'dp\\.st\\.(?:[a-z0-9_-]{2,35}\\.)?', body: PLAIN, least: 30 },
  { origin: '1Password', prefix: 'ops_eyJ', body: BASE64, least: 40 },
  { origin: 'age', prefix: 'AGE-SECRET-KEY-1', body: UPPER, least: 40 },
  { origin: 'minisign', prefix: 'RWRTY0Iy', body: BASE64, least: 60 },
  { origin: 'Okta', prefix: 'SSWS ', body: WORD, least: 30 },
  { origin: 'Stytch', prefix: 'secret-(?:live|test)-', body: BASE64, least: 32 },
  { origin: 'Adobe', prefix: 'p8e-', body: WORD, least: 30, mixed: true },
  { origin: 'nostr', prefix: 'nsec1', body: LOWER, least: 50 },
  { origin: 'BIP 32', prefix: 'xprv', body: PLAIN, least: 90, alone: true },
  // Monitoring.
  { origin: 'New Relic', prefix: 'NR(?:AK|II|RA)-', body: WORD, least: 24 },
  { origin: 'Grafana', prefix: 'glsa_', body: NAME, least: 32 },
  { origin: 'Grafana', prefix: 'glc_', body: BASE64, least: 32 },
  { origin: 'Grafana', prefix: 'eyJrIjoi', body: BASE64, least: 60 },
  { origin: 'Sentry', prefix: 'sntry[su]_', body: BASE64, least: 40 },
  { origin: 'PostHog', prefix: 'phx_', body: PLAIN, least: 32 },
  { origin: 'Dynatrace', prefix: 'dt0[a-z]\\d\\d\\.[A-Z0-9]{24}\\.', body: UPPER, least: 40 },
  { origin: 'Honeycomb', prefix: 'hc[abx][imx]k_', body: LOWER, least: 40 },
  { origin: 'Axiom', prefix: 'xa[ap]t-', body: UUID, least: 36, exact: true },
  { origin: 'LaunchDarkly', prefix: 'sdk-', body: UUID, least: 36, alone: true, exact: true },
  // Chat and mail.
  { origin: 'Slack', prefix: 'xox[abeoprs][.-]', body: '[A-Za-z0-9.-]', least: 8 },
  { origin: 'Slack', prefix: 'xapp-', body: '[A-Za-z0-9-]', least: 20 },
  {
    origin: 'Slack',
    prefix: 'hooks\\.slack\\.com/(?:services|workflows|triggers)/',
    body: '[A-Za-z0-9/]',
    least: 16,
  },
  {
    origin: 'Discord',
    prefix: 'discord(?:app)?\\.com/api/(?:v\\d{1,2}/)?webhooks/\\d{16,20}/',
    body: WORD,
    least: 40,
  },
  { origin: 'Discord', prefix: 'mfa\\.', body: WORD, least: 60, alone: true, mixed: true },
  {
    origin: 'Microsoft Teams',
    prefix: 'webhook\\.office\\.com/webhookb2/',
    body: '[A-Za-z0-9@/-]',
    least: 36,
  },
  { origin: 'SendGrid', prefix: 'SG\\.', body: DOTTED, least: 40 },
  { origin: 'Mailgun', prefix: 'key-', body: HEX, least: 32, alone: true, exact: true },
  { origin: 'Brevo', prefix: 'x(?:keys|smtps)ib-', body: '[A-Za-z0-9-]', least: 40 },
  { origin: 'MailerSend', prefix: 'mlsn\\.', body: HEX, least: 40 },
  { origin: 'Resend', prefix: 're_', body: NAME, least: 24, alone: true, mixed: true },
  {
    origin: 'Twilio',
    prefix: 'SK',
    body: HEX,
    least: 32,
    alone: true,
    exact: true,
  },
  // Payment and shops.
  { origin: 'Stripe', prefix: '[rs]k_(?:live|test)_', body: PLAIN, least: 10 },
  { origin: 'Stripe', prefix: 'whsec_', body: '[A-Za-z0-9+/=]', least: 20 },
  { origin: 'Mollie', prefix: 'live_', body: PLAIN, least: 30, alone: true, mixed: true },
  { origin: 'Square', prefix: 'EAAA', body: WORD, least: 56, alone: true, mixed: true },
  { origin: 'Square', prefix: 'sq0(?:csp|atp)-', body: WORD, least: 20 },
  {
    origin: 'Braintree',
    prefix: 'access_token\\$(?:production|sandbox)\\$',
    body: '[a-z0-9$]',
    least: 40,
  },
  { origin: 'PayPal', prefix: 'A21AA', body: WORD, least: 60, alone: true, mixed: true },
  { origin: 'Plaid', prefix: 'access-(?:production|sandbox|development)-', body: UUID, least: 36 },
  { origin: 'Flutterwave', prefix: 'FLWSECK(?:_TEST)?-', body: '[A-Za-z0-9-]', least: 32 },
  { origin: 'Paddle', prefix: 'pdl_(?:live|sdbx)_apikey_', body: NAME, least: 30 },
  { origin: 'Polar', prefix: 'polar_(?:oat|pat)_', body: PLAIN, least: 30 },
  { origin: 'Shopify', prefix: 'shp(?:at|ss|ca|pa)_', body: '[0-9a-fA-F]', least: 32 },
  { origin: 'WooCommerce', prefix: 'c[ks]_', body: HEX, least: 40, alone: true, exact: true },
  { origin: 'Shippo', prefix: 'shippo_(?:live|test)_', body: HEX, least: 40 },
  { origin: 'EasyPost', prefix: 'EZ[AT]K', body: PLAIN, least: 50, alone: true },
  { origin: 'Duffel', prefix: 'duffel_(?:live|test)_', body: WORD, least: 40 },
  // Work and data.
  { origin: 'Facebook', prefix: 'EAA', body: PLAIN, least: 60, alone: true, mixed: true },
  { origin: 'Instagram', prefix: 'IG(?:QV|AA)', body: WORD, least: 60, alone: true, mixed: true },
  { origin: 'LinkedIn', prefix: 'WPL_AP\\d\\.', body: '[A-Za-z0-9.+/=]', least: 20 },
  { origin: 'Dropbox', prefix: 'sl\\.(?:u\\.)?', body: WORD, least: 60, alone: true, mixed: true },
  { origin: 'Notion', prefix: 'secret_', body: PLAIN, least: 40, alone: true, mixed: true },
  { origin: 'Notion', prefix: 'ntn_', body: PLAIN, least: 40 },
  { origin: 'Linear', prefix: 'lin_(?:api|oauth)_', body: PLAIN, least: 24 },
  { origin: 'Airtable', prefix: 'pat[A-Za-z0-9]{14}\\.', body: HEX, least: 64 },
  { origin: 'HubSpot', prefix: 'pat-[a-z]{2}\\d-', body: UUID, least: 36 },
  { origin: 'ClickUp', prefix: 'pk_\\d{5,12}_', body: UPPER, least: 32, alone: true },
  { origin: 'Salesforce', prefix: '00D[A-Za-z0-9]{12,15}!', body: DOTTED, least: 60 },
  { origin: 'Contentful', prefix: 'CFPAT-', body: WORD, least: 40 },
  { origin: 'Mapbox', prefix: 'sk\\.eyJ', body: DOTTED, least: 40 },
  { origin: 'Tinybird', prefix: 'p\\.eyJ', body: DOTTED, least: 40, alone: true },
  { origin: 'dbt', prefix: 'dbt[uc]_', body: WORD, least: 30 },
  { origin: 'Retool', prefix: 'retool_', body: PLAIN, least: 24, mixed: true },
  { origin: 'Apify', prefix: 'apify_api_', body: PLAIN, least: 30 },
  { origin: 'Browserbase', prefix: 'bb_live_', body: WORD, least: 20 },
  { origin: 'Trigger.dev', prefix: 'tr_(?:dev|prod|stg|pat)_', body: PLAIN, least: 20 },
  { origin: 'Inngest', prefix: 'signkey-[a-z]{4,8}-', body: HEX, least: 40 },
  { origin: 'Adafruit', prefix: 'aio_', body: PLAIN, least: 28, alone: true, mixed: true },
  { origin: 'ElevenLabs', prefix: 'sk_', body: HEX, least: 40, alone: true },
  { origin: 'Typeform', prefix: 'tfp_', body: WORD, least: 40 },
];

/** Credentials that have their sign in the middle or at the end. */
export const INNER_SHAPES: readonly InnerShape[] = [
  { origin: 'Azure', lead: '[A-Za-z0-9_~.-]{3}', prefix: '\\dQ~', body: '[\\w~.-]', least: 31 },
  { origin: 'Terraform', lead: `${PLAIN}{14}`, prefix: '\\.atlasv1\\.', body: WORD, least: 40 },
  { origin: 'Telegram', lead: '\\d{8,10}', prefix: ':AA', body: WORD, least: 30 },
  { origin: 'Firebase', lead: `${WORD}{8,24}`, prefix: ':APA91b', body: WORD, least: 60 },
  { origin: 'Mailchimp', lead: `${HEX}{32}`, prefix: '-us\\d{1,2}', body: NONE, least: 0 },
  {
    // The part before the first dot is the account number in base64.
    origin: 'Discord',
    lead: '(?:[MNO][DTjz][AEIMQUYcgk][wxyz0-5]){5,6}[A-Za-z0-9]{0,3}\\.',
    sign: '[MNO][DTjz][AEIMQUYcgk][wxyz0-5][MNO][DTjz][AEIMQUYcgk][wxyz0-5]',
    prefix: '',
    body: DOTTED,
    least: 30,
  },
];
