/** A string, a comment, or a comma before a closing bracket. */
const TOKEN = /"(?:\\.|[^"\\])*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|,(?=\s*[}\]])/g;

/** Returns JSON without the comments and the last commas that `tsconfig.json` and `deno.jsonc` may have. */
export function plainJson(text: string): string {
  // A comma may stand before a comment.
  const bare = text.replace(TOKEN, (token) => (token.startsWith('/') ? '' : token));
  return bare.replace(TOKEN, (token) => (token.startsWith(',') ? '' : token));
}
