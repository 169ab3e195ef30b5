// Decides what a turn's requests hold besides the messages: system prompt, instructions, the mode's tools, a schema.
import { type ToolDescription } from '../../protocol/tool.ts';
import { type ModelRequest } from '../ports.ts';
import { type RequestConfig } from '../producerPorts.ts';
import { type Instruction, readInstructions } from './instructions.ts';
import { type TurnDeps } from './loop.ts';
import { schemaInstruction } from './schemaPrompts.ts';
import { systemPrompt } from './systemPrompt.ts';

const PLAN_MODE =
  'You are in Plan mode: only tools that read are there. Look, think, and propose what to do; change nothing.';

/** Instructions are not read again for every request of a busy turn. */
const READ_EVERY = 5000;
const encoder = new TextEncoder();

/** The prompt stays the same, which endpoints cache, until what is in it has changed. */
export class Prompting {
  readonly #deps: TurnDeps;
  #instructions: readonly Instruction[] = [];
  #readAt = Number.NEGATIVE_INFINITY;
  #folders: string | undefined;

  constructor(deps: TurnDeps) {
    this.#deps = deps;
  }

  async refresh(): Promise<void> {
    const { log, ports } = this.#deps;
    const paths = [...log.state.seen.paths()];
    const folders = [...new Set(paths.map((path) => path.slice(0, path.lastIndexOf('/') + 1)))].sort().join('\n');
    const now = ports.clock.now();
    if (folders === this.#folders && now - this.#readAt < READ_EVERY) return;
    this.#folders = folders;
    this.#readAt = now;
    this.#instructions = await readInstructions(ports.workspace, paths, ports.userFiles);
  }

  config(): RequestConfig {
    const { ports } = this.#deps;
    const hash = (text: string) => ports.snapshots.hash(encoder.encode(text));
    return {
      model: ports.model().id,
      mode: ports.settings().mode,
      tools: this.#tools().map(({ name }) => name),
      instructions: this.#instructions.map(({ name, text }) => ({ name, hash: hash(text) })),
    };
  }

  request(): ModelRequest {
    const { schema } = this.#deps.log.state.turn;
    return {
      system: this.#system(),
      messages: this.#deps.log.state.messages.all,
      tools: this.#tools(),
      image: (hash) => this.#deps.ports.snapshots.get(hash),
      ...(schema !== undefined && { schema }),
    };
  }

  /** What every request has besides the messages, for estimating its size. */
  get overhead(): string {
    return `${this.#system()}\n${JSON.stringify(this.#tools())}`;
  }

  #system(): string {
    const { log, ports } = this.#deps;
    const { schema, key } = log.state.turn;
    return systemPrompt(ports.workspace, key, [
      ...(this.#planning ? [PLAN_MODE] : []),
      ...(schema === undefined ? [] : [schemaInstruction(schema)]),
      ...this.#instructions.map(({ text }) => text),
    ]);
  }

  #tools(): readonly ToolDescription[] {
    const { registry } = this.#deps;
    return this.#planning ? registry.readingDescriptions : registry.descriptions;
  }

  get #planning(): boolean {
    return this.#deps.ports.settings().mode === 'plan';
  }
}
