// Helpers for walks about the prefix of requests: a recording model, settings and tools that change in between.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Disposable } from '../../../src/base/disposable.ts';
import { type ConversationLog } from '../../../src/core/conversation/log.ts';
import { type ModelRequest, type Tool } from '../../../src/core/ports/ports.ts';
import { prefixBreak } from '../../../src/core/prompt/promptState.ts';
import { createConfigProducer } from '../../../src/producers/config.ts';
import { readSettings, type SettingName } from '../../../src/protocol/settings.ts';
import { runCommandTool } from '../../../src/tools/commands/runCommand.ts';
import { answer, defineTool } from '../../../src/tools/defineTool.ts';
import { createFileTools } from '../../../src/tools/files/fileTools.ts';
import { createLoadSkillTool } from '../../../src/tools/loadSkill.ts';
import { atTestEnd } from '../endings.ts';
import { createManualClock, type ManualClock } from '../manualClock.ts';
import { createScriptedModel, type ModelAnswer, type ScriptedModel } from '../models/scriptedModel.ts';
import { type Headless, type HeadlessOptions, startHeadless } from './headless.ts';

export interface PrefixWalk {
  headless: Headless;
  readonly model: ScriptedModel;
  readonly clock: ManualClock;
  readonly id: string;
  readonly log: ConversationLog;
  /** Notices for the user. */
  readonly notices: readonly string[];
  put(path: string, text: string | undefined): Promise<void>;
  set(name: SettingName, value: unknown): void;
  /** Adds a tool of a server until the result is disposed of. */
  offer(server: string | undefined, name: string, description?: string): Disposable;
  /** The same for any tool. */
  register(tool: Tool): Disposable;
  go(text?: string, ...answers: readonly ModelAnswer[]): Promise<void>;
  /** Restarts the window and opens the conversation again. */
  restart(): Promise<void>;
  /** The index of each request that does not extend the one before, with the part that differs. */
  breaks(): readonly string[];
}

export const call = (id: string, name: string, args: object = {}): ModelAnswer => ({
  calls: [{ id, name, arguments: args }],
});

export async function beginPrefixWalk(options: Partial<HeadlessOptions> = {}): Promise<PrefixWalk> {
  const base = createScriptedModel();
  const model: ScriptedModel = { ...base, ...options.model };
  const clock = createManualClock();
  const values = new Map<string, unknown>([['approvals.mode', 'all']]);
  const notices: string[] = [];
  const all: HeadlessOptions = {
    ...options,
    model,
    ports: {
      clock,
      tools: [...createFileTools(), runCommandTool, createLoadSkillTool({})],
      producers: [createConfigProducer()],
      settings: () => readSettings((name) => values.get(name)).settings,
      notice: (text) => notices.push(text),
      ...options.ports,
    },
  };
  const walk: { headless: Headless } = { headless: await startHeadless(all) };
  const { folder } = walk.headless;
  const opened = await walk.headless.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { id } = opened.value.log;
  atTestEnd(() => walk.headless.end());
  let log = opened.value.log;
  const register = (tool: Tool): Disposable => {
    const registered = walk.headless.earshot.tools.register([tool]);
    atTestEnd(async () => registered.dispose());
    return registered;
  };
  return {
    get headless() {
      return walk.headless;
    },
    model,
    clock,
    id,
    get log() {
      return log;
    },
    notices,
    put: async (path, text) => {
      const file = join(folder, path);
      if (text === undefined) return rm(file);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    },
    set: (name, value) => values.set(name, value),
    offer: (server, name, description = `Does ${name}.`) => register(fakeTool(server, name, description)),
    register,
    go: async (text = 'Hello.', ...answers) => {
      model.script(...answers);
      const sent = await walk.headless.earshot.send(id, text);
      if (!sent.ok) throw new Error(sent.failure.message);
      await walk.headless.earshot.settled(id);
    },
    restart: async () => {
      walk.headless = await walk.headless.restart(all);
      const again = await walk.headless.earshot.open(id);
      if (!again.ok) throw new Error(again.failure.message);
      log = again.value.log;
    },
    breaks: () => breaksIn(model.requests),
  };
}

/** A tool that only reads and runs this. */
export function actingTool(name: string, run: () => void): Tool {
  return defineTool({
    name,
    description: `Does ${name}.`,
    effect: 'read',
    arguments: {},
    run: async () => {
      run();
      return answer(`${name} ran`);
    },
  });
}

function fakeTool(server: string | undefined, name: string, description: string): Tool {
  const tool = defineTool({ name, description, effect: 'read', arguments: {}, run: async () => answer(`${name} ran`) });
  return server === undefined ? tool : { ...tool, traits: { server } };
}

function breaksIn(requests: readonly ModelRequest[]): readonly string[] {
  return requests.flatMap((request, index) => {
    const before = requests[index - 1];
    const broken = before && prefixBreak(before, request);
    return broken === undefined ? [] : [`${index}: ${broken.part}`];
  });
}

/** What the last message of a request adds besides its content: notifications, instructions and tools. */
export function additions(request: ModelRequest | undefined): string {
  const last = request?.messages.at(-1);
  if (last === undefined || last.role === 'assistant') return '';
  const found = last.role === 'tool' ? (last.found ?? []) : [];
  return [last.block?.text ?? '', ...(last.queued ?? []), ...found].join('\n');
}
