// The entry point for a process that serves a hub: joins it with other machines, as options or settings say. Loads NATS
// only if a server is configured, and reports wrong options in `health` instead of failing, since local work continues.
import { type TryLock } from '../../node/kernelLock.ts';
import { type HubLink, type HubSide } from '../hubLink.ts';
import { type JoinInput, type JoinOptions, JoinOptionError, type Label, readJoinOptions } from './joinOptions.ts';

export interface JoinDeps {
  readonly tryLock: TryLock;
}

/** Returns the value for `HubServerDeps.join`. Undefined: no server is configured. */
export async function joinByServer(
  input: JoinInput,
  label: Label,
  deps: JoinDeps,
): Promise<((side: HubSide) => HubLink) | undefined> {
  if (input.server.trim() === '') return undefined;
  let options: JoinOptions;
  try {
    options = readJoinOptions(input, label);
  } catch (error) {
    if (!(error instanceof JoinOptionError)) throw error;
    return (side) => refusedLink(side, error.message);
  }
  const { createNatsLink } = await import('./natsLink.ts');
  return createNatsLink(options, deps);
}

/** A link without a connection, whose health says why. */
function refusedLink(side: HubSide, error: string): HubLink {
  const server = { state: 'refused', since: new Date(side.clock.now()).toISOString(), error } as const;
  side.report(error);
  return {
    stored: () => undefined,
    agentsChanged: () => undefined,
    knownAs: () => undefined,
    agents: () => [],
    health: () => ({ server, not_sent: 0, stream_full: false }),
    close: async () => undefined,
  };
}
