// Prepares the start of a server: resolves its configuration, and asks the user to approve a server of a workspace or
// one that runs code of it.
import { type ServerState } from '../protocol/outside/mcp.ts';
import { type ConfiguredServer } from './config/configuration.ts';
import { type Launch, type LaunchProof, prepareLaunch, proveLaunch } from './config/launch.ts';
import { type McpHost } from './serverPort.ts';

export interface PreparedStart {
  readonly launch: Launch;
  /** The key that is stored if the program speaks an earlier revision. */
  readonly legacyKey: string;
}

type Become = (state: ServerState, problem?: string) => void;

/**
 * Undefined: the user did not approve it, or it was stopped meanwhile. Rejects if the configuration is wrong. A server
 * of a workspace starts only as it was approved: its files are hashed again after every wait for the user.
 */
export async function prepareStart(
  host: McpHost,
  configured: ConfiguredServer,
  become: Become,
  signal: AbortSignal,
): Promise<PreparedStart | undefined> {
  await host.memory.ready;
  const variables = host.variables(configured);
  // Without values of inputs: the user is not asked for them before the server is approved.
  const plan = () => prepareLaunch(configured, { ...variables, input: async (id) => `\${input:${id}}` });
  for (;;) {
    const planned = await plan();
    const proof = await proveLaunch(configured, planned, host.roots(configured));
    if (signal.aborted) return undefined;
    if (!(await isApproved(host, configured, proof))) {
      if (!(await ask(host, configured, proof, { become, signal }))) return undefined;
      continue;
    }
    const start = { legacyKey: `legacy:${proof.hash}` };
    if (configured.inputs.length === 0) return { ...start, launch: planned };
    const launch = await prepareLaunch(configured, variables);
    const isSame = (await proveLaunch(configured, await plan(), host.roots(configured))).hash === proof.hash;
    if (isSame || !needsApproval(configured, proof)) return { ...start, launch };
  }
}

function needsApproval({ source }: ConfiguredServer, { isInWorkspace }: LaunchProof): boolean {
  return source.workspace || isInWorkspace;
}

/** Approvals are stored by command and hashes, so a changed server needs a new approval. */
async function isApproved({ approvals }: McpHost, configured: ConfiguredServer, proof: LaunchProof): Promise<boolean> {
  return !needsApproval(configured, proof) || approvals.has(approvedKey(proof), proof);
}

async function ask(
  { memory, approvals, approve }: McpHost,
  configured: ConfiguredServer,
  proof: LaunchProof,
  { become, signal }: { readonly become: Become; readonly signal: AbortSignal },
): Promise<boolean> {
  const known = `known:${configured.source.folder ?? ''}:${configured.name}`;
  become('approval', 'it starts after your approval');
  const approved = await approve(configured, proof, memory.has(known), signal);
  if (signal.aborted || !approved) return false;
  await approvals.add(approvedKey(proof), proof);
  await memory.set(known, true);
  become('starting');
  return true;
}

function approvedKey({ hash }: LaunchProof): string {
  return `approved:${hash}`;
}
