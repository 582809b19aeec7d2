/** Matches a string, a comment, or a comma before a closing bracket. */
const TOKEN = /"(?:\\.|[^"\\])*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|,(?=\s*[}\]])/g;

/** Returns JSON without comments and trailing commas, which `tsconfig.json` and `deno.jsonc` may have. */
export function plainJson(text: string): string {
  // Comments are removed first, since a comment may follow a trailing comma.
  const bare = text.replace(TOKEN, (token) => (token.startsWith('/') ? '' : token));
  return bare.replace(TOKEN, (token) => (token.startsWith(',') ? '' : token));
}
