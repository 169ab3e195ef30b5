// The state of one conversation's prompt: its parts as last read, the frozen prefix, and what the next carrier adds. Checks
// that each request extends the one before, so that endpoints read it from their caches.
import { type Failure } from '../../base/errors.ts';
import { type EventOf, type Prefix } from '../../protocol/event.ts';
import { type ToolDescription } from '../../protocol/tool.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type FrozenPrefix, readDescription, readPrefix } from '../knowledge/frozenPrefix.ts';
import { type Logger, type ModelRequest, type Ports, type Surroundings } from '../ports/ports.ts';
import { type RequestConfig } from '../ports/producers.ts';
import { type Snapshots } from '../ports/storage.ts';
import { type Instruction, readInstructions } from './instructions.ts';
import { listSkills, type Skill } from './skills.ts';

type Additions = Pick<EventOf<'tool_call_response'>, 'instructions' | 'found'>;

/** What was compared at a delivery point: the next carrier announces it. */
export interface Compared {
  readonly config: RequestConfig;
  readonly additions: Additions;
}

interface ReadDeps {
  readonly log: ConversationLog;
  readonly ports: Pick<Ports, 'workspace' | 'userFiles' | 'snapshots' | 'moreInstructions' | 'surroundings'>;
  /** Paths of the files that calls show whose responses are not in the log yet. */
  readonly shown: readonly string[];
  /** Whether a tool loads skills. */
  readonly withSkills: boolean;
  refused(path: string, failure: Failure): void;
}

const encoder = new TextEncoder();
const MOST_KEPT = 256;

export class PromptState {
  #instructions: readonly Instruction[] | undefined;
  #skills: readonly Skill[] = [];
  #surroundings: Surroundings | undefined;
  #frozen: { readonly named: Prefix; readonly prefix: FrozenPrefix } | undefined;
  readonly #descriptions = new Map<string, ToolDescription>();
  #compared: Compared | undefined;
  #sent: { readonly request: ModelRequest; readonly model: string; readonly rebuilds: number } | undefined;
  readonly #kept = new Set<string>();

  get instructions(): readonly Instruction[] {
    return this.#instructions ?? [];
  }

  /** The skills that the model is offered. */
  get skills(): readonly Skill[] {
    return this.#skills;
  }

  get surroundings(): Surroundings | undefined {
    return this.#surroundings;
  }

  get isRead(): boolean {
    return this.#instructions !== undefined;
  }

  async read({ log, ports, shown, withSkills, refused }: ReadDeps): Promise<void> {
    const skills = withSkills ? await listSkills(ports.workspace, ports.userFiles, refused) : [];
    const seen = new Set([...log.state.seen.shown, ...shown]);
    const inFiles = await readInstructions(ports.workspace, seen, ports.userFiles, refused);
    const found = [...inFiles, ...ports.moreInstructions()];
    // Stored before an event names them, because later changes are found by comparing with these texts.
    const offered = skills.filter(({ userOnly }) => !userOnly);
    for (const { text } of [...found, ...offered]) {
      if (this.#kept.has(text)) continue;
      if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
      await ports.snapshots.put(encoder.encode(text));
      this.#kept.add(text);
    }
    // Only the first request needs it: later changes are reported by producers.
    if (log.state.prefix.frozen === undefined) this.#surroundings = await ports.surroundings();
    this.#instructions = found;
    this.#skills = offered;
  }

  /** The prefix that the log names; undefined: there is none, or its snapshots are not loaded. */
  frozen(log: ConversationLog): FrozenPrefix | undefined {
    const { frozen } = log.state.prefix;
    return frozen !== undefined && isSame(frozen, this.#frozen?.named) ? this.#frozen?.prefix : undefined;
  }

  /** Stores the snapshots of a prefix; the caller logs the result before the request. */
  async freeze(snapshots: Snapshots, prefix: FrozenPrefix): Promise<Prefix> {
    const system = await snapshots.put(encoder.encode(prefix.system));
    const tools = await snapshots.put(encoder.encode(JSON.stringify(prefix.tools)));
    const named = { system, tools, names: prefix.tools.map(({ name }) => name) };
    this.#frozen = { named, prefix };
    return named;
  }

  /** Reads the prefix and the found tools from their snapshots, after a restart, in a fork or in another window. */
  async load({ state }: ConversationLog, snapshots: Snapshots): Promise<void> {
    const { frozen, found } = state.prefix;
    if (frozen === undefined) return;
    if (!isSame(frozen, this.#frozen?.named)) {
      const prefix = await readPrefix(snapshots, frozen);
      if (prefix === undefined) return;
      this.#frozen = { named: frozen, prefix };
    }
    for (const hash of found.values()) {
      if (this.#descriptions.has(hash)) continue;
      const description = await readDescription(snapshots, hash);
      if (description !== undefined) this.#descriptions.set(hash, description);
    }
  }

  /** The found tools, in their order. */
  found({ state }: ConversationLog): readonly ToolDescription[] {
    return [...state.prefix.found.values()].flatMap((hash) => this.#descriptions.get(hash) ?? []);
  }

  /** Stores the description of a found tool. */
  async keep(snapshots: Snapshots, description: ToolDescription): Promise<{ name: string; hash: string }> {
    const hash = await snapshots.put(encoder.encode(JSON.stringify(description)));
    this.#descriptions.set(hash, description);
    return { name: description.name, hash };
  }

  /** Logs why an endpoint cannot read the request from its cache, if it cannot. */
  check(log: ConversationLog, logger: Pick<Logger, 'info' | 'warn'>, request: ModelRequest, model: string): void {
    const before = this.#sent;
    const { rebuilds, rebuiltBy } = log.state.prefix;
    this.#sent = { request, model, rebuilds };
    if (before === undefined) return;
    const broken = prefixBreak(before.request, request);
    if (before.model !== model) logger.info(`The prompt cache of ${log.id} starts again: another model, ${model}.`);
    else if (before.rebuilds !== rebuilds) logger.info(`The prompt cache of ${log.id} starts again: ${rebuiltBy}.`);
    else if (broken !== undefined) {
      const { part, at } = broken;
      logger.warn(
        `The prompt cache of ${log.id} is lost for no listed reason: request parts differ (${part}, at ${at}).`,
      );
    }
  }

  compared(compared: Compared | undefined): void {
    this.#compared = compared;
  }

  /** Call in the same step as the carrier's append. */
  take(): Compared | undefined {
    const compared = this.#compared;
    this.#compared = undefined;
    return compared;
  }
}

function isSame(a: Prefix, b: Prefix | undefined): boolean {
  return a.system === b?.system && a.tools === b.tools;
}

interface PrefixBreak {
  readonly part: 'system' | 'tools' | 'found' | 'messages';
  /** The index of the first tool or message that differs. */
  readonly at: number;
}

/** Undefined: the later request has the same prompt and tools, and the same messages followed by others. */
export function prefixBreak(before: ModelRequest, after: ModelRequest): PrefixBreak | undefined {
  if (before.system !== after.system) return { part: 'system', at: 0 };
  const lists = [
    ['tools', before.tools, after.tools, true],
    ['found', before.found ?? [], after.found ?? [], false],
    ['messages', before.messages, after.messages, false],
  ] as const;
  for (const [part, old, now, isWhole] of lists) {
    const at = firstDifference(old, now);
    if (at !== undefined) return { part, at };
    if (isWhole && now.length > old.length) return { part, at: old.length };
  }
  return undefined;
}

/** Almost always the same objects; after a repair of the log, equal ones. */
function firstDifference(old: readonly unknown[], now: readonly unknown[]): number | undefined {
  const at = old.findIndex((one, index) => one !== now[index] && JSON.stringify(one) !== JSON.stringify(now[index]));
  return at === -1 ? undefined : at;
}
