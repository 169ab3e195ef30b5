// Stores permanent approvals in a small file next to the conversations, out of the agent's reach.
import { type Permissions } from '../core/ports/ports.ts';
import { createKeySet, type KeySetDeps } from './keySet.ts';

/** Until the file was read, and if it is unreadable, nothing is allowed and the user is asked. */
export function createPermissions(deps: Pick<KeySetDeps, 'files' | 'folder' | 'logger'>): Permissions & {
  readonly ready: Promise<void>;
} {
  const rules = createKeySet({ ...deps, name: 'approvals.json', field: 'rules' });
  return { ready: rules.ready, has: (rule) => rules.has(rule), add: (rule) => rules.set(rule, true) };
}
