// Tools that are added and removed in the middle of a turn, as the tools of an MCP server are.
import { expect, test } from 'vitest';
import { type Disposable } from '../../src/base/disposable.ts';
import { type Earshot } from '../../src/core/earshot.ts';
import { type Tool } from '../../src/core/ports/ports.ts';
import { createConfigProducer } from '../../src/producers/config.ts';
import { answer, defineTool } from '../../src/tools/defineTool.ts';
import { readFileTool } from '../../src/tools/files/readFile.ts';
import { atTestEnd } from '../support/endings.ts';
import { beginWalk, type Walked } from '../support/walk/walking.ts';

const NOW = 'mcp__time__now';

/**
 * A fake MCP server with one tool. Calls of the model open and close its connection, so that both happen inside a turn.
 */
class FakeServer {
  #earshot: Earshot | undefined;
  #connection: Disposable | undefined;
  runs = 0;
  /** Called while the tool runs. */
  whileRunning: () => void = () => undefined;

  attach(earshot: Earshot): void {
    this.#earshot = earshot;
  }

  connect(): void {
    this.#connection = this.#earshot?.tools.register([this.#now()]);
  }

  disconnect(): void {
    this.#connection?.dispose();
  }

  readonly switches: readonly Tool[] = [this.#switch('connect'), this.#switch('disconnect')];

  #switch(name: 'connect' | 'disconnect'): Tool {
    return defineTool({
      name,
      description: `Makes the server ${name}.`,
      effect: 'read',
      arguments: {},
      run: async () => {
        this[name]();
        return answer(`${name}ed`);
      },
    });
  }

  #now(): Tool {
    return defineTool({
      name: NOW,
      description: 'Tells the time.',
      effect: 'execute',
      arguments: {},
      run: async () => {
        this.runs += 1;
        this.whileRunning();
        await Promise.resolve();
        return answer('12:00');
      },
    });
  }
}

async function begin(server: FakeServer, calls: readonly string[], mode = 'all'): Promise<Walked> {
  const answers = calls.map((name, index) => ({ calls: [{ id: `c${index}`, name, arguments: {} }] }));
  const walk = await beginWalk([...answers, { text: ['Done.'] }], {
    settings: { 'approvals.mode': mode },
    ports: { tools: [readFileTool, ...server.switches], producers: [createConfigProducer()] },
  });
  server.attach(walk.headless.earshot);
  atTestEnd(async () => server.disconnect());
  return walk;
}

/** Whether each request offered the server's tool. */
function offered({ server }: Walked): readonly boolean[] {
  return server.requests.map(({ body }) => {
    const { tools } = JSON.parse(body) as { tools: { function: { name: string } }[] };
    return tools.some((tool) => tool.function.name === NOW);
  });
}

function results({ log }: Walked): readonly string[] {
  return log.state.messages.all.flatMap((message) => (message.role === 'tool' ? [message.content] : []));
}

test('a tool added during a turn is offered and can be called; once removed it stays described, and a late call is refused', async () => {
  const server = new FakeServer();
  const walk = await begin(server, ['connect', NOW, 'disconnect', NOW]);
  await walk.go();
  expect(offered(walk)).toEqual([false, true, true, true, true]);
  expect(results(walk)).toEqual([
    'connected',
    '12:00',
    'disconnected',
    `${NOW} was not run: this tool was removed. The tools are: read_file, connect, disconnect.`,
  ]);
  expect(server.runs).toBe(1);
  const blocks = walk.log.state.messages.all.flatMap((message) =>
    message.role === 'tool' && message.block !== undefined ? [message.block.text] : [],
  );
  expect(blocks).toEqual([
    expect.stringContaining(`tools added: ${NOW}`),
    expect.stringContaining(`tools no longer there: ${NOW}`),
  ]);
  expect(walk.headless.errors).toEqual([]);
});

test('a tool that is removed while its call runs ends that call as usual', async () => {
  const server = new FakeServer();
  server.whileRunning = () => server.disconnect();
  const walk = await begin(server, ['connect', NOW]);
  await walk.go();
  expect(results(walk)).toEqual(['connected', '12:00']);
  expect(offered(walk)).toEqual([false, true, true]);
  expect(walk.headless.errors).toEqual([]);
});

test.each([
  { change: 'removed', reconnects: false, reason: 'this tool was removed. The tools are: read_file' },
  { change: 'replaced', reconnects: true, reason: 'another tool has this name since the call. Call it again.' },
])('a tool that is $change while its approval is open is not run', async ({ reconnects, reason }) => {
  const server = new FakeServer();
  const walk = await begin(server, ['connect', NOW], 'reads');
  walk.headless.frontend.answer = async () => {
    server.disconnect();
    if (reconnects) server.connect();
    return { action: 'approve', by: 'user' };
  };
  await walk.go();
  expect(server.runs).toBe(0);
  expect(results(walk)[1]).toContain(`${NOW} was not run: ${reason}`);
});

test('tools with a name that is already in use are refused, and none of them is added', async () => {
  const server = new FakeServer();
  const walk = await begin(server, []);
  const { tools } = walk.headless.earshot;
  server.connect();
  const changes: number[] = [];
  const listening = tools.onDidChange(() => changes.push(tools.names.length));
  const [connect] = server.switches;
  if (connect === undefined) throw new Error('no tool');
  const other = { ...connect, description: { ...connect.description, name: 'other' } };
  expect(() => tools.register([other, connect])).toThrow('there is a tool connect already');
  expect(tools.get('other')).toBeUndefined();
  server.disconnect();
  expect(tools.known(NOW)?.description.name).toBe(NOW);
  expect(changes).toEqual([3]);
  listening.dispose();
});
