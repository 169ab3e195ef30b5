// Assembles a turn's requests: system prompt, instructions, the tools of the mode, the schema.
import { type Failure } from '../../base/errors.ts';
import { type ToolDescription } from '../../protocol/tool.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type ModelRequest, type Ports } from '../ports/ports.ts';
import { type OfferedServer, type RequestConfig } from '../ports/producers.ts';
import { type OfferedTools } from '../tools/offeredTools.ts';
import { type Instruction, readInstructions } from './instructions.ts';
import { type Refusals } from './refusals.ts';
import { schemaInstruction } from './schemaPrompts.ts';
import { describeSkills, listSkills, type Skill } from './skills.ts';
import { subagentPrompt } from './subagentPrompt.ts';
import { systemPrompt } from './systemPrompt.ts';

interface PromptingDeps {
  readonly log: ConversationLog;
  readonly registry: OfferedTools;
  readonly ports: Pick<
    Ports,
    'workspace' | 'userFiles' | 'snapshots' | 'settings' | 'model' | 'moreInstructions' | 'hub'
  >;
  /** Absent: nothing is compared at delivery points, so instructions are read before each request. */
  readonly sampling?: object;
  /** The conversation's instructions; absent: they are read for this part of the turn only. */
  readonly instructions?: InstructionsInForce;
  /** Absent: refused instruction files are not reported. */
  readonly refusals?: Refusals;
}

const PLAN_MODE =
  'You are in Plan mode: only tools that read are there. Look, think, and propose what to do; change nothing.';

const encoder = new TextEncoder();
const MOST_KEPT = 256;
/** Limit of the tools that a conversation has found, which are part of each of its requests. */
const MOST_FOUND_CHARACTERS = 60_000;

/**
 * The instructions and skills of a conversation's requests. They change only at a delivery point, so that the first
 * request with changed instructions also reports the change.
 */
export class InstructionsInForce {
  #current: readonly Instruction[] | undefined;
  #skills: readonly Skill[] = [];
  readonly #kept = new Set<string>();

  get current(): readonly Instruction[] {
    return this.#current ?? [];
  }

  /** The skills that the model is offered. */
  get skills(): readonly Skill[] {
    return this.#skills;
  }

  get isRead(): boolean {
    return this.#current !== undefined;
  }

  async read({ log, ports, registry, refusals }: PromptingDeps): Promise<void> {
    const refused = (path: string, failure: Failure) => refusals?.report(path, failure);
    const skills = skillTool(registry) === undefined ? [] : await listSkills(ports.workspace, ports.userFiles, refused);
    const inFiles = await readInstructions(ports.workspace, log.state.seen.paths(), ports.userFiles, refused);
    const found = [...inFiles, ...(ports.moreInstructions?.() ?? [])];
    // Stored before an event names them, because later changes are reported by comparing with these texts.
    const offered = skills.filter(({ userOnly }) => !userOnly);
    for (const { text } of [...found, ...offered]) {
      if (this.#kept.has(text)) continue;
      if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
      await ports.snapshots.put(encoder.encode(text));
      this.#kept.add(text);
    }
    this.#current = found;
    this.#skills = offered;
  }
}

/** Keeps the prompt unchanged while its parts are unchanged, because endpoints cache it. */
export class Prompting {
  readonly #deps: PromptingDeps;
  readonly #inForce: InstructionsInForce;
  #offered: readonly ToolDescription[] | undefined;

  constructor(deps: PromptingDeps) {
    this.#deps = deps;
    this.#inForce = deps.instructions ?? new InstructionsInForce();
  }

  /** Reads the instructions again, at a delivery point. */
  async refresh(): Promise<void> {
    await this.#inForce.read(this.#deps);
  }

  /** Call before a request. Keeps the instructions of the last delivery point; reads them only if there was none. */
  async prepare(): Promise<void> {
    if (this.#deps.sampling === undefined || !this.#inForce.isRead) await this.refresh();
  }

  config(): RequestConfig {
    const { ports, registry } = this.#deps;
    const hash = (text: string) => ports.snapshots.hash(encoder.encode(text));
    return {
      model: ports.model().id,
      mode: ports.settings().mode,
      tools: this.#tools().flatMap(({ name }) => (registry.traits(name)?.server === undefined ? [name] : [])),
      servers: this.#servers(hash),
      instructions: this.#inForce.current.map(({ name, text }) => ({ name, hash: hash(text) })),
      skills: this.#inForce.skills.map(({ name, text }) => ({ name, hash: hash(text) })),
    };
  }

  /** Fixes the tools of the next request and returns its configuration. Later changes apply to the request after it. */
  offerTools(): RequestConfig {
    this.#offered = this.#tools();
    return this.config();
  }

  request(): ModelRequest {
    const { schema } = this.#deps.log.state.turn;
    return {
      system: this.#system(),
      messages: this.#deps.log.state.messages.all,
      tools: this.#offered ?? this.#tools(),
      image: (hash) => this.#deps.ports.snapshots.get(hash),
      ...(schema !== undefined && { schema }),
    };
  }

  /** What every request contains besides the messages, to estimate its size. */
  get overhead(): string {
    return `${this.#system()}\n${JSON.stringify(this.#tools())}`;
  }

  #system(): string {
    const { log, ports, registry } = this.#deps;
    const { schema, key } = log.state.turn;
    const skills = describeSkills(this.#inForce.skills, skillTool(registry) ?? '');
    const { subagent } = log.state.summary;
    return systemPrompt(ports.workspace, key, [
      ...(subagent === undefined ? [] : [subagentPrompt(subagent.name, this.#parent(subagent.parent))]),
      ...(this.#planning ? [PLAN_MODE] : []),
      ...(schema === undefined ? [] : [schemaInstruction(schema)]),
      ...this.#inForce.current.map(({ text }) => text),
      ...(skills === undefined ? [] : [skills]),
    ]);
  }

  #parent(conversation: string): { readonly name: string; readonly tool: string } | undefined {
    const { ports, registry } = this.#deps;
    const name = ports.hub?.nameOf(conversation);
    const tool = registry.names.find((one) => registry.traits(one)?.sendsMessages === true);
    return name === undefined || tool === undefined ? undefined : { name, tool };
  }

  #tools(): readonly ToolDescription[] {
    const { registry } = this.#deps;
    const all = this.#callable();
    const found = this.#found(all);
    return all.filter(({ name }) => registry.traits(name)?.onDemand !== true || found.has(name));
  }

  /** The on-demand tools that were found last, up to a size. Others can be called too, or found again. */
  #found(all: readonly ToolDescription[]): ReadonlySet<string> {
    const { registry, log } = this.#deps;
    const offered = new Set<string>();
    let left = MOST_FOUND_CHARACTERS;
    const byName = new Map(all.map((description) => [description.name, description]));
    for (const name of log.state.foundTools.newestFirst) {
      const description = byName.get(name);
      if (description === undefined || registry.traits(name)?.onDemand !== true) continue;
      left -= JSON.stringify(description).length;
      if (left < 0) break;
      offered.add(name);
    }
    return offered;
  }

  /** Includes on-demand tools. */
  #callable(): readonly ToolDescription[] {
    const { registry } = this.#deps;
    return this.#planning ? registry.readingDescriptions : registry.descriptions;
  }

  #servers(hash: (text: string) => string): readonly OfferedServer[] {
    const servers = new Map<string, Record<string, string>>();
    for (const description of this.#callable()) {
      const server = this.#deps.registry.traits(description.name)?.server;
      if (server === undefined) continue;
      const tools = servers.get(server) ?? {};
      tools[description.name] = hashOf(description, hash);
      servers.set(server, tools);
    }
    return [...servers].map(([name, tools]) => ({ name, tools }));
  }

  get #planning(): boolean {
    return this.#deps.ports.settings().mode === 'plan';
  }
}

/** The name of the tool that loads skills; undefined: there is none. */
function skillTool(registry: OfferedTools): string | undefined {
  return registry.names.find((name) => registry.traits(name)?.loadsSkills === true);
}

/** A description never changes: when a server changes a tool, the tool gets a new object. */
const hashes = new WeakMap<ToolDescription, string>();

function hashOf(description: ToolDescription, hash: (text: string) => string): string {
  const known = hashes.get(description);
  if (known !== undefined) return known;
  const made = hash(JSON.stringify(description)).slice(0, 12);
  hashes.set(description, made);
  return made;
}
