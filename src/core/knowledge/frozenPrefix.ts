// Reads the system prompt and the descriptions of tools that a conversation's log names.
import { type Prefix } from '../../protocol/event.ts';
import { type ToolDescription } from '../../protocol/tool.ts';
import { type Snapshots } from '../ports/storage.ts';

export interface FrozenPrefix {
  readonly system: string;
  readonly tools: readonly ToolDescription[];
}

const decoder = new TextDecoder();

/** Undefined if its snapshots are gone. */
export async function readPrefix(snapshots: Pick<Snapshots, 'get'>, named: Prefix): Promise<FrozenPrefix | undefined> {
  const [system, tools] = await Promise.all([snapshots.get(named.system), snapshots.get(named.tools)]);
  if (system === undefined || tools === undefined) return undefined;
  return { system: decoder.decode(system), tools: JSON.parse(decoder.decode(tools)) as readonly ToolDescription[] };
}

/** The description of a tool that was found later. */
export async function readDescription(
  snapshots: Pick<Snapshots, 'get'>,
  hash: string,
): Promise<ToolDescription | undefined> {
  const bytes = await snapshots.get(hash);
  return bytes && (JSON.parse(decoder.decode(bytes)) as ToolDescription);
}
