// Measures the turn loop: 400 cycles with a model without delay and a durable log, compared with a bare loop.
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { type ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { type ModelRequest } from '../../src/core/ports/ports.ts';
import { createChatModel, chatForm, toWireTools } from '../../src/models/chat/chatModel.ts';
import { look, RESULT, runTurn } from './benchTurns.ts';
import { CYCLES, startLoopbackModel } from './loopbackModel.ts';
import { measure } from './measure.ts';

const server = await startLoopbackModel();
const folder = await mkdtemp(join(tmpdir(), 'earshot-bench-'));
let runs = 0;
const nextAddress = () => `${server.origin}/${++runs}/v1`;

let prompt: ModelRequest | undefined;

function runEarshot(): Promise<string> {
  const model = createChatModel({ baseUrl: nextAddress(), model: 'm', apiKey: async () => 'k' });
  return runTurn(model, (request) => {
    prompt = request;
  });
}

const written = await runEarshot();
const groups = groupLines(written);

/** The lines that Earshot wrote, grouped by sync: an answer with its calls, then the result. */
function groupLines(events: string): Buffer[] {
  const found: string[][] = [[]];
  for (const line of events.trimEnd().split('\n')) {
    found.at(-1)?.push(`${line}\n`);
    if (/"type":"(model_call|tool_call_response|chat_request)"/.test(line)) found.push([]);
  }
  return found.map((lines) => Buffer.from(lines.join(''))).filter((bytes) => bytes.length > 0);
}

async function runBare(): Promise<void> {
  if (prompt === undefined) throw new Error('Earshot has not run');
  const client = new OpenAI({ baseURL: nextAddress(), apiKey: 'k', maxRetries: 0 });
  const file = await open(join(folder, `bare-${runs}`), 'a');
  let group = 0;
  const keep = async () => {
    const bytes = groups[group++];
    if (bytes === undefined) return;
    await file.write(bytes);
    await file.datasync();
  };
  const messages: ChatCompletionMessageParam[] = [
    { role: 'system', content: prompt.system },
    { role: 'user', content: 'Look around.' },
  ];
  const tools = toWireTools(prompt, chatForm(server.origin, 'm'));
  await keep();
  for (;;) {
    const stream = await client.chat.completions.create({
      model: 'm',
      messages,
      tools,
      stream: true,
      stream_options: { include_usage: true },
    });
    let content = '';
    const call = { id: '', name: '', arguments: '' };
    for await (const chunk of stream) {
      const delta = chunk.choices[0]?.delta;
      content += delta?.content ?? '';
      for (const piece of delta?.tool_calls ?? []) {
        call.id += piece.id ?? '';
        call.name += piece.function?.name ?? '';
        call.arguments += piece.function?.arguments ?? '';
      }
    }
    await keep();
    if (call.id === '') break;
    const { id, name, arguments: args } = call;
    messages.push({
      role: 'assistant',
      content,
      tool_calls: [{ id, type: 'function', function: { name, arguments: args } }],
    });
    JSON.parse(args);
    messages.push({ role: 'tool', tool_call_id: id, content: RESULT });
    await keep();
  }
  await file.close();
}

await measure({
  what: `turn loop, ${CYCLES} cycles, loopback model without delay, durable log`,
  control: 'a bare streaming loop on the openai package that appends and syncs the same bytes',
  goal: 1.25,
  runControl: async () => {
    await runBare();
    return CYCLES;
  },
  runEarshot: async () => {
    await runEarshot();
    return CYCLES;
  },
});

for (const { name, run } of [
  { name: 'ai', run: runAiSdk },
  { name: '@openai/agents', run: runAgents },
]) {
  const loaded = await load(name);
  if (loaded === undefined) {
    console.log(
      `turn loop against ${name}\n  skipped: the package ${name} is not installed (npm install --no-save ${name})`,
    );
    continue;
  }
  await measure({
    what: `turn loop, ${CYCLES} cycles, durable log`,
    control: `${name} without any log`,
    goal: 1,
    runControl: async () => {
      await run(loaded);
      return CYCLES;
    },
    runEarshot: async () => {
      await runEarshot();
      return CYCLES;
    },
  });
}

type Loaded = Readonly<Record<string, unknown>>;

/** Imports by a computed name, so that the type checker does not require optional packages. */
async function load(name: string): Promise<Loaded | undefined> {
  try {
    return (await import(name)) as Loaded;
  } catch {
    return undefined;
  }
}

async function runAiSdk(loaded: Loaded): Promise<void> {
  const provider = await load('@ai-sdk/openai-compatible');
  if (provider === undefined) throw new Error('ai also needs @ai-sdk/openai-compatible');
  const { createOpenAICompatible } = provider as {
    createOpenAICompatible(options: object): (model: string) => unknown;
  };
  const { streamText, tool, jsonSchema, stepCountIs } = loaded as {
    streamText(options: object): { textStream: AsyncIterable<string> };
    tool(options: object): unknown;
    jsonSchema(schema: object): unknown;
    stepCountIs(count: number): unknown;
  };
  const looking = tool({ inputSchema: jsonSchema({ ...look.description.parameters }), execute: async () => RESULT });
  const { textStream } = streamText({
    model: createOpenAICompatible({ name: 'loopback', baseURL: nextAddress(), apiKey: 'k' })('m'),
    system: prompt?.system,
    prompt: 'Look around.',
    tools: { look: looking },
    stopWhen: stepCountIs(CYCLES + 1),
  });
  for await (const _text of textStream);
}

async function runAgents(loaded: Loaded): Promise<void> {
  const { Agent, Runner, OpenAIProvider, tool, setTracingDisabled } = loaded as {
    Agent: new (options: object) => object;
    Runner: new (
      options: object,
    ) => { run(agent: object, input: string, options: object): Promise<AsyncIterable<unknown>> };
    OpenAIProvider: new (options: object) => object;
    tool(options: object): unknown;
    setTracingDisabled(disabled: boolean): void;
  };
  setTracingDisabled(true);
  const { name, description, parameters } = look.description;
  const looking = tool({ name, description, parameters, strict: false, execute: async () => RESULT });
  const agent = new Agent({ name: 'bench', instructions: prompt?.system, model: 'm', tools: [looking] });
  const modelProvider = new OpenAIProvider({ baseURL: nextAddress(), apiKey: 'k', useResponses: false });
  const result = await new Runner({ modelProvider }).run(agent, 'Look around.', { stream: true, maxTurns: CYCLES + 1 });
  for await (const _event of result);
}

await server.stop();
await rm(folder, { recursive: true });
