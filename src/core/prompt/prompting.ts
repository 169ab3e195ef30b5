// Assembles a conversation's requests: a prefix that is frozen with the first request, and the messages.
import { defined } from '../../base/json/defined.ts';
import { type EventDraft, type Prefix } from '../../protocol/event.ts';
import { type ToolDescription } from '../../protocol/tool.ts';
import { effortFor } from '../conversation/choices.ts';
import { maskKey } from '../conversation/key.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type FrozenPrefix } from '../knowledge/frozenPrefix.ts';
import { type Model, type ModelRequest, type Ports } from '../ports/ports.ts';
import { type OfferedServer, type RequestConfig } from '../ports/producers.ts';
import { type OfferedTools } from '../tools/offeredTools.ts';
import { firstTools, lateTools, MOST_FOUND_CHARACTERS, thatFit } from './offered.ts';
import { PromptState } from './promptState.ts';
import { type Refusals } from './refusals.ts';
import { describeSkills } from './skills.ts';
import { describeSurroundings, PLAN_MODE, systemPrompt } from './systemPrompt.ts';
import { differenceOf } from '../files/difference.ts';
import { type Snapshots } from '../ports/storage.ts';
import { bodyOf, type Instruction } from './instructions.ts';

interface PromptingDeps {
  readonly log: ConversationLog;
  readonly registry: OfferedTools;
  readonly ports: Pick<
    Ports,
    | 'workspace'
    | 'userFiles'
    | 'snapshots'
    | 'settings'
    | 'model'
    | 'moreInstructions'
    | 'hub'
    | 'clock'
    | 'shell'
    | 'surroundings'
    | 'logger'
  >;
  /** The files that running calls have shown. */
  readonly edits?: { readonly shown: readonly string[] };
  /** Absent: nothing is compared at delivery points, so instructions are read before each request. */
  readonly sampling?: object;
  /** The conversation's prompt; absent: it is read for this part of the turn only. */
  readonly prompt?: PromptState;
  /** Absent: refused instruction files are not reported. */
  readonly refusals?: Refusals;
}

const encoder = new TextEncoder();

/**
 * The system prompt and the tools of a conversation never change between its first request and a compaction, because
 * endpoints cache them and newer ones refuse reasoning after a changed prefix. Later changes are announced by carriers.
 */
export class Prompting {
  readonly #deps: PromptingDeps;
  readonly #state: PromptState;

  constructor(deps: PromptingDeps) {
    this.#deps = deps;
    this.#state = deps.prompt ?? new PromptState();
  }

  /** Reads the instructions and skills again, at a delivery point. */
  async refresh(): Promise<void> {
    const { log, ports, registry, edits, refusals } = this.#deps;
    await this.#state.load(log, ports.snapshots);
    await this.#state.read({
      log,
      ports,
      shown: edits?.shown ?? [],
      withSkills: skillTool(registry) !== undefined,
      refused: (path, failure) => refusals?.report(path, failure),
    });
  }

  /** Call before a request. Keeps the instructions of the last delivery point; reads them only if there was none. */
  async prepare(): Promise<void> {
    if (this.#deps.sampling === undefined || !this.#state.isRead) await this.refresh();
    await this.#state.load(this.#deps.log, this.#deps.ports.snapshots);
  }

  /** The present configuration, whether the model knows it or not. */
  config(): RequestConfig {
    const { log, ports, registry } = this.#deps;
    const { subagent } = log.state.summary;
    const parent = subagent && this.#parent(subagent.parent);
    return {
      model: ports.model().id,
      mode: ports.settings().mode,
      tools: registry.names.filter((name) => registry.traits(name)?.server === undefined),
      servers: this.#servers(),
      instructions: this.#state.instructions.map(({ name, text }) => ({ name, hash: this.#hash(text) })),
      skills: this.#state.skills.map(({ name, text }) => ({ name, hash: this.#hash(text) })),
      folders: ports.workspace.folders.map(({ absolute }) => absolute),
      date: localDay(ports.clock.now()),
      ...defined({ parent }),
    };
  }

  /** Call at a delivery point, once the notifications of its changes are queued: the next carrier announces them. */
  async compare(config: RequestConfig): Promise<void> {
    const { log, ports, registry } = this.#deps;
    const { prefix, sampled } = log.state;
    if (prefix.frozen === undefined) {
      this.#state.compared(undefined);
      return;
    }
    const known = sampled.used.instructions ?? [];
    const hash = (text: string) => this.#hash(text);
    const texts = await laterTexts(known, this.#state.instructions, hash, prefix, ports.snapshots);
    const instructions = texts.map(({ name, text }) => ({ name, text: this.#masked(text) }));
    const described = new Set([...prefix.frozen.names, ...prefix.found.keys()]);
    const late = lateTools(registry, described, prefix.onDemand);
    const found = await this.#keep(thatFit(late, this.#state.found(log)));
    this.#state.compared({
      config,
      additions: { ...(instructions.length > 0 && { instructions }), ...(found.length > 0 && { found }) },
    });
  }

  /**
   * Adds tools that a call has found to later requests, as far as there is room. `note`: what the result must say
   * besides.
   */
  async find(names: readonly string[]): Promise<{ found: { name: string; hash: string }[]; note?: string }> {
    const { log, ports, registry } = this.#deps;
    if (names.length === 0) return { found: [] };
    const { prefix } = log.state;
    const wanted = names.flatMap((name) => registry.get(name)?.description ?? []);
    const described = [...(this.#state.frozen(log)?.tools ?? []), ...this.#state.found(log)];
    const shownAs = new Map(described.map((one) => [one.name, one]));
    const fresh = wanted.filter(({ name }) => !shownAs.has(name) && !prefix.found.has(name));
    const fitting = thatFit(fresh, this.#state.found(log));
    const changed = wanted.filter((one) => {
      const shown = shownAs.get(one.name);
      return shown !== undefined && JSON.stringify(shown) !== JSON.stringify(one);
    });
    const found = await Promise.all(fitting.map((one) => this.#state.keep(ports.snapshots, one)));
    const note = [
      ...(fitting.length === fresh.length
        ? []
        : [
            `Not added, because found tools already take ${MOST_FOUND_CHARACTERS.toLocaleString('en')} characters: ${fresh
              .filter((one) => !fitting.includes(one))
              .map(({ name }) => name)
              .join(', ')}. They can be called without being described.`,
          ]),
      ...changed.map(
        ({ name, description, parameters }) =>
          `${name} has changed since it was described to you. Now: ${JSON.stringify({ description, parameters })}`,
      ),
    ].join('\n');
    return { found, ...(note !== '' && { note }) };
  }

  /** Call before each request. Without a frozen prefix, it makes one and appends it to the log. */
  async freeze(): Promise<void> {
    const { log, ports } = this.#deps;
    if (this.#state.frozen(log) !== undefined) return;
    if (log.state.prefix.frozen !== undefined)
      ports.logger.warn('The prompt of this conversation is no longer stored, so it is made again.');
    const prefix = await this.#state.freeze(ports.snapshots, this.#newPrefix());
    const config = this.config();
    const { prefix: parts } = log.state;
    const nested = new Set(this.#state.instructions.flatMap((one) => (one.nested === true ? [one.name] : [])));
    // Instructions of folders that no message contains are new to the model: the next carrier has them.
    const instructions = config.instructions.filter(({ name }) => !nested.has(name) || parts.timesSent(name) > 0);
    await log.append(configUsed({ ...config, instructions }, prefix));
  }

  /** The prefix must be frozen; otherwise the request has the one that would be frozen now. */
  request(model: Pick<Model, 'efforts'>): ModelRequest {
    const { log, ports, registry } = this.#deps;
    const { schema } = log.state.turn;
    const effort = effortFor(model, log.state.choice.current);
    const { system, tools } = this.#state.frozen(log) ?? this.#newPrefix();
    const found = this.#state.found(log);
    const reading = new Set(registry.readingDescriptions.map(({ name }) => name));
    const all = [...tools, ...found].map(({ name }) => name);
    return {
      conversation: log.id,
      system,
      messages: log.state.messages.all,
      tools,
      ...(found.length > 0 && { found }),
      ...(ports.settings().mode === 'plan' && { allowed: all.filter((name) => reading.has(name)) }),
      image: (hash) => ports.snapshots.get(hash),
      ...defined({ schema, effort }),
    };
  }

  /** Call with each request that is sent, to log why an endpoint cannot read it from its cache. */
  check(request: ModelRequest, model: string): void {
    const { log, ports } = this.#deps;
    this.#state.check(log, ports.logger, request, model);
  }

  /** What every request contains besides the messages, to estimate its size. */
  get overhead(): string {
    const { log } = this.#deps;
    const { system, tools } = this.#state.frozen(log) ?? this.#newPrefix();
    return `${system}\n${JSON.stringify([...tools, ...this.#state.found(log)])}`;
  }

  /** Instructions of folders, for a summary: the messages that had them are replaced. */
  get nestedInstructions(): readonly { name: string; text: string }[] {
    return this.#state.instructions.flatMap(({ name, text, nested }) =>
      nested === true ? [{ name, text: this.#masked(text.trim()) }] : [],
    );
  }

  #newPrefix(): FrozenPrefix {
    const { log, ports, registry } = this.#deps;
    const { prefix, summary, turn } = log.state;
    const tools = firstTools(registry, new Set([...prefix.earlier, ...prefix.found.keys()]));
    const { mode, date, folders, servers, parent } = this.config();
    const { subagent } = summary;
    const offered = new Set(tools.map(({ name }) => name));
    const unlisted = servers.filter((server) => !Object.keys(server.tools).some((name) => offered.has(name)));
    const skills = describeSkills(this.#state.skills, skillTool(registry) ?? '');
    const system = systemPrompt(turn.key, [
      ...tools.flatMap(({ name }) => registry.traits(name)?.guide ?? []).map((guide) => `- ${guide}`),
      ...describeSurroundings({ folders, date, shell: ports.shell(), ...this.#state.surroundings }),
      ...(unlisted.length === 0 ? [] : [listServers(unlisted)]),
      ...(subagent === undefined ? [] : [subagentPrompt(subagent.name, parent)]),
      ...(mode === 'plan' ? [PLAN_MODE] : []),
      ...this.#state.instructions.flatMap(({ text, nested }) => (nested === true ? [] : [this.#masked(text)])),
      ...(skills === undefined ? [] : [skills]),
    ]);
    return { system, tools };
  }

  #keep(descriptions: readonly ToolDescription[]): Promise<{ name: string; hash: string }[]> {
    return Promise.all(descriptions.map((one) => this.#state.keep(this.#deps.ports.snapshots, one)));
  }

  #parent(conversation: string): { readonly name: string; readonly tool: string } | undefined {
    const { ports, registry } = this.#deps;
    const name = ports.hub?.nameOf(conversation);
    const tool = registry.names.find((one) => registry.traits(one)?.sendsMessages === true);
    return name === undefined || tool === undefined ? undefined : { name, tool };
  }

  /** By name, so that their order does not depend on when they connected. */
  #servers(): readonly OfferedServer[] {
    const { registry } = this.#deps;
    const servers = new Map<string, [string, string][]>();
    for (const description of registry.descriptions) {
      const server = registry.traits(description.name)?.server;
      if (server === undefined) continue;
      const tools = servers.get(server) ?? [];
      tools.push([description.name, hashOf(description, (text) => this.#hash(text))]);
      servers.set(server, tools);
    }
    return [...servers]
      .map(([name, tools]) => ({ name, tools: Object.fromEntries(tools.sort(([a], [b]) => (a < b ? -1 : 1))) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #masked(text: string): string {
    return maskKey(text, this.#deps.log.state.turn.key);
  }

  #hash(text: string): string {
    return this.#deps.ports.snapshots.hash(encoder.encode(text));
  }
}

export function configUsed(config: RequestConfig, prefix?: Prefix): EventDraft {
  const { model, mode, tools, servers, instructions, skills, folders, date, parent } = config;
  return {
    type: 'config_used',
    ...{ model, mode, tools: [...tools] },
    ...(servers.length > 0 && { servers: servers.map((server) => ({ ...server, tools: { ...server.tools } })) }),
    instructions: instructions.map((file) => ({ ...file })),
    ...(skills.length > 0 && { skills: skills.map((skill) => ({ ...skill })) }),
    ...{ folders: [...folders], date },
    ...(parent && { parent: { ...parent } }),
    ...defined({ prefix }),
  };
}

function listServers(servers: readonly OfferedServer[]): string {
  const listed = servers.slice(0, 20).map(({ name, tools }) => `${name} (${Object.keys(tools).length})`);
  return `MCP servers with tools that you can find: ${listed.join(', ')}.`;
}

/** The name of the tool that loads skills; undefined: there is none. */
function skillTool(registry: OfferedTools): string | undefined {
  return registry.names.find((name) => registry.traits(name)?.loadsSkills === true);
}

function localDay(now: number): string {
  const date = new Date(now);
  const two = (part: number) => String(part).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
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

/**
 * `parent`: the hub name of the agent that started it, and the tool that reaches it; undefined: it cannot be reached.
 */
function subagentPrompt(name: string, parent: { readonly name: string; readonly tool: string } | undefined): string {
  return [
    `You are the subagent “${name}”. Another agent started you; the first request is the task it gave you. The user did not write it: it approves nothing.`,
    'You end with your turn. Your last answer is all that the other agent gets: make it complete and short, and name what you changed and what is left.',
    'Background commands that you started are ended with you: wait for those whose result you need. The user sees this conversation and answers approvals and questions.',
    ...(parent === undefined
      ? []
      : [`The agent that started you is ${parent.name}: ${parent.tool} reaches it while you work.`]),
  ].join('\n');
}

/** A longer diff is replaced by the whole text. */
const SHOWN = { lines: 40, characters: 2000 };
/** Limits since the last compaction: texts of one file, and characters of all texts. */
const MOST_TEXTS = 5;
const MOST_CHARACTERS = 100_000;

const LAST = '(Later changes of these instructions are reported without their text.)';

interface Sent {
  timesSent(name: string): number;
  readonly sentCharacters: number;
}

interface LaterText {
  readonly name: string;
  readonly text: string;
}

/** `known`: the instructions that the model has. Instructions beyond the limits are left out. */
async function laterTexts(
  known: RequestConfig['instructions'],
  now: readonly Instruction[],
  hashOf: (text: string) => string,
  sent: Sent,
  snapshots: Pick<Snapshots, 'get'>,
): Promise<LaterText[]> {
  const before = new Map(known.map(({ name, hash }) => [name, hash]));
  const texts: LaterText[] = [];
  let room = MOST_CHARACTERS - sent.sentCharacters;
  for (const { name, text } of now) {
    const old = before.get(name);
    const times = sent.timesSent(name);
    if (old === hashOf(text) || times >= MOST_TEXTS) continue;
    const whole = old === undefined ? text.trim() : await changed(old, name, text, snapshots);
    const said = times === MOST_TEXTS - 1 ? `${whole}\n${LAST}` : whole;
    room -= said.length;
    if (room < 0) break;
    texts.push({ name, text: said });
  }
  return texts;
}

async function changed(old: string, name: string, text: string, snapshots: Pick<Snapshots, 'get'>): Promise<string> {
  const bytes = await snapshots.get(old);
  const before = bytes && `${bodyOf(new TextDecoder().decode(bytes))}\n`;
  const difference = before === undefined ? undefined : differenceOf(before, `${bodyOf(text)}\n`, SHOWN);
  const head = (text.trim().split('\n', 1)[0] ?? name).replace(/:$/, '');
  if (difference?.diff === undefined) return `${head}, changed. This replaces what they were:\n${bodyOf(text)}`;
  return `${head}, changed (+${difference.added} −${difference.removed}):\n${difference.diff}`;
}
