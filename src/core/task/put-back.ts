/** What had become of a task file that was put back. Paths are relative to the vault. */
export type PutBack =
  | { readonly kind: 'removed' | 'emptied' }
  /** Something else lay in its place, and is now at `aside`. */
  | { readonly kind: 'replaced'; readonly aside: string }
  /** It lay at `from`, where the next pass over the vault would take it for a new task. */
  | { readonly kind: 'moved'; readonly from: string };
