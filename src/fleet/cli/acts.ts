/** The subcommands of `ralph fleet`. */
export const FLEET_ACTS = ['init', 'status', 'account'] as const;

export type FleetAct = (typeof FLEET_ACTS)[number];
