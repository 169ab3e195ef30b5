// Stores permanent approvals in a small file beside the conversations, out of the agent's reach.
import { type Permissions } from '../core/ports/ports.ts';
import { createKeySet, type KeySetDeps } from './keySet.ts';

/** Nothing is allowed until the file was read, or if it is unreadable: the user is asked. */
export function createPermissions(deps: Pick<KeySetDeps, 'files' | 'folder' | 'logger'>): Permissions & {
  readonly ready: Promise<void>;
} {
  const rules = createKeySet({ ...deps, name: 'approvals.json', field: 'rules' });
  return { ready: rules.ready, has: (rule) => rules.has(rule), add: (rule) => rules.set(rule, true) };
}
