/** What had happened to a task file before ralph put it back. Paths are relative to the vault, the folder of tasks. */
export type PutBack =
  | { readonly kind: 'removed' | 'emptied' }
  /** Another file had taken its place, and was moved to `aside`. */
  | { readonly kind: 'replaced'; readonly aside: string }
  /** It had been moved to `from`, where ralph's next run over all task files would take it for a new task. */
  | { readonly kind: 'moved'; readonly from: string };
