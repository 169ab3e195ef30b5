// What happens before a server starts: its configuration is resolved, and the user approves what a workspace configured.
import { type ServerState } from '../protocol/mcp.ts';
import { type ConfiguredServer } from './config/configuration.ts';
import { type Launch, type LaunchProof, prepareLaunch, proveLaunch } from './config/launch.ts';
import { type McpHost } from './serverPort.ts';

export interface PreparedStart {
  readonly launch: Launch;
  /** Under which it is remembered that the program speaks an earlier revision. */
  readonly legacyKey: string;
}

type Become = (state: ServerState, problem?: string) => void;

/** Undefined: the user did not approve it, or it was stopped meanwhile. Rejects with what is wrong with the configuration. */
export async function prepareStart(
  host: McpHost,
  configured: ConfiguredServer,
  become: Become,
  signal: AbortSignal,
): Promise<PreparedStart | undefined> {
  await host.memory.ready;
  const variables = host.variables(configured);
  // Nothing is asked for a server that was not approved: inputs stay as they are written.
  const plan = await prepareLaunch(configured, { ...variables, input: async (id) => `\${input:${id}}` });
  const proof = await proveLaunch(configured, plan);
  if (signal.aborted || !(await isApproved(host, configured, proof, { become, signal }))) return undefined;
  const launch = configured.inputs.length === 0 ? plan : await prepareLaunch(configured, variables);
  return { launch, legacyKey: `legacy:${proof.hash}` };
}

/** By command and hashes, at every start: what was changed since is asked for again. */
async function isApproved(
  { memory, approve }: McpHost,
  configured: ConfiguredServer,
  proof: LaunchProof,
  { become, signal }: { readonly become: Become; readonly signal: AbortSignal },
): Promise<boolean> {
  if (!configured.source.workspace) return true;
  const key = `approved:${proof.hash}`;
  if (memory.has(key)) return true;
  const known = `known:${configured.source.folder ?? ''}:${configured.name}`;
  become('approval', 'it starts after your approval');
  const approved = await approve(configured, proof, memory.has(known), signal);
  if (signal.aborted || !approved) return false;
  await memory.set(key, true);
  await memory.set(known, true);
  become('starting');
  return true;
}
