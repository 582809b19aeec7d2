import { UsageError } from '../../../errors.ts';
import { accountFleet } from '../account.ts';
import { FLEET_ACTS, type FleetAct } from '../acts.ts';
import { initNamedFleet } from '../init.ts';
import { onFleet } from '../on-fleet.ts';
import { showFleet } from '../overview.ts';
import { requireFleet } from '../which-fleet.ts';

export interface FleetCommandOptions {
  readonly fleet?: string;
  /** A duration, not yet parsed. */
  readonly lease?: string;
  readonly watch?: boolean;
  readonly json?: boolean;
  /** A duration; true: until somebody resumes the account. */
  readonly pause?: string | true;
  readonly resume?: boolean;
  /** A number, not yet parsed. */
  readonly slots?: string;
}

const FLAGS: Readonly<Record<FleetAct, readonly (keyof FleetCommandOptions)[]>> = {
  init: ['lease'],
  status: ['watch', 'json'],
  account: ['pause', 'resume', 'slots'],
};

/** `ralph fleet init|status|account`: makes a fleet's tables, shows the fleet, or changes an account. */
export async function fleet(
  act: FleetAct,
  name: string | undefined,
  options: FleetCommandOptions,
): Promise<number> {
  const problems = misplaced(act, name, options);
  if (problems.length > 0) throw new UsageError(problems);
  const url = requireFleet(`fleet ${act}`, options, process.env);
  switch (act) {
    case 'init':
      return initNamedFleet(url, options.lease);
    case 'status':
      return onFleet(url, options, (open) => showFleet(open, options));
    case 'account':
      return onFleet(url, options, (open) => accountFleet(open, name ?? '', options));
  }
}

function misplaced(
  act: FleetAct,
  name: string | undefined,
  options: FleetCommandOptions,
): readonly string[] {
  const given = Object.keys(options).filter((flag) => flag !== 'fleet');
  const strays = given.flatMap((flag) => {
    const owner = FLEET_ACTS.find((each) => FLAGS[each].some((own) => own === flag));
    return owner === undefined || owner === act
      ? []
      : [`--${flag} is a flag of ralph fleet ${owner}, not of ralph fleet ${act}.`];
  });
  if (act === 'account' && name === undefined) {
    strays.push('ralph fleet account needs the name of an account; ralph fleet status lists them.');
  }
  if (act !== 'account' && name !== undefined) {
    strays.push(`ralph fleet ${act} takes no name, but got '${name}'.`);
  }
  return strays;
}
