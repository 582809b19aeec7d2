/** The shells that can be completed for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

/** The command by which the scripts ask ralph for the ids of tasks; not in the help. */
export const IDS_COMMAND = '__complete-ids';
