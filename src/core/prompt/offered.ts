// Selects the tools that a conversation begins with, and those that it gets later. Their order does not depend on the
// order in which servers connect.
import { type ToolDescription } from '../../protocol/tool.ts';
import { type OfferedTools } from '../tools/offeredTools.ts';

/** With more tools of MCP servers than this, a conversation begins without them and finds them. */
export const MOST_OFFERED = 30;
/** The same for the size of their descriptions and schemas. */
export const MOST_OFFERED_CHARACTERS = 60_000;
/** Limit of the tools that a conversation gets after its first request, until a compaction. */
export const MOST_FOUND_CHARACTERS = 60_000;

/** What the tool adds to a request, in characters. */
export function sizeOf(description: ToolDescription): number {
  return JSON.stringify(description).length;
}

/** `earlier`: tools that the conversation has found before. */
export function firstTools(registry: OfferedTools, earlier: ReadonlySet<string>): readonly ToolDescription[] {
  const serverOf = (name: string) => registry.traits(name)?.server;
  const own = registry.descriptions.filter(({ name }) => serverOf(name) === undefined);
  const ofServers = inOrder(registry, (name) => serverOf(name) !== undefined);
  const mustFind = hasFinder(registry) && !fit(ofServers);
  return [...own, ...(mustFind ? ofServers.filter(({ name }) => earlier.has(name)) : ofServers)];
}

/** Tools that were added since; not those that the conversation has to find. */
export function lateTools(
  registry: OfferedTools,
  described: ReadonlySet<string>,
  onDemand: boolean,
): readonly ToolDescription[] {
  const isServers = (name: string) => registry.traits(name)?.server !== undefined;
  const late = (name: string) => !described.has(name);
  const own = registry.descriptions.filter(({ name }) => late(name) && !isServers(name));
  const all = inOrder(registry, isServers);
  const mustFind = hasFinder(registry) && (onDemand || !fit(all));
  return mustFind ? own : [...own, ...all.filter(({ name }) => late(name))];
}

/** As many of them as there is room for, in their order. */
export function thatFit(
  descriptions: readonly ToolDescription[],
  found: readonly ToolDescription[],
): readonly ToolDescription[] {
  let left = MOST_FOUND_CHARACTERS - found.reduce((sum, one) => sum + sizeOf(one), 0);
  return descriptions.filter((one) => {
    const size = sizeOf(one);
    if (size > left) return false;
    left -= size;
    return true;
  });
}

function hasFinder(registry: OfferedTools): boolean {
  return registry.names.some((name) => registry.traits(name)?.findsTools === true);
}

function fit(descriptions: readonly ToolDescription[]): boolean {
  const size = descriptions.reduce((sum, one) => sum + sizeOf(one), 0);
  return descriptions.length <= MOST_OFFERED && size <= MOST_OFFERED_CHARACTERS;
}

/** By server, then by name. */
function inOrder(registry: OfferedTools, wanted: (name: string) => boolean): readonly ToolDescription[] {
  const key = ({ name }: ToolDescription) => `${registry.traits(name)?.server ?? ''}\n${name}`;
  const keyed = registry.descriptions.filter(({ name }) => wanted(name)).map((one) => [key(one), one] as const);
  return keyed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}
