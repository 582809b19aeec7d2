/** The supported shells. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

/** The hidden command with which the scripts ask ralph for task ids. */
export const IDS_COMMAND = '__complete-ids';
