// Many commands in one answer: eight run at a time, the others wait, and a stop answers all of them at once.
import { expect, test } from 'vitest';
import { type Tool } from '../../../src/core/ports/ports.ts';
import { defineTool } from '../../../src/tools/defineTool.ts';
import { readFileTool } from '../../../src/tools/files/readFile.ts';
import { atTestEnd } from '../../support/endings.ts';
import { parseLines } from '../../support/log/logOracle.ts';
import { createScriptedModel } from '../../support/models/scriptedModel.ts';
import { startHeadless } from '../../support/walk/headless.ts';

const CALLS = 60;

/** A command that runs until the test ends or cancels it. */
function createSlowTool() {
  const running = new Map<string, () => void>();
  const changed = new Set<() => void>();
  let ran = 0;
  let most = 0;
  const tool: Tool = defineTool({
    name: 'slow',
    description: 'Runs until it is released.',
    effect: 'execute',
    arguments: {},
    run: async (_, { call, signal }) => {
      await new Promise<void>((resolve) => {
        running.set(call, resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
        ran += 1;
        most = Math.max(most, running.size);
        for (const listener of changed) listener();
      });
      running.delete(call);
      return { content: `ran as ${call}`, isError: false };
    },
  });
  const untilRan = (count: number) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (ran < count) return;
        changed.delete(look);
        resolve();
      };
      changed.add(look);
      look();
    });
  return { tool, untilRan, end: () => running.values().next().value?.(), ran: () => ran, most: () => most };
}

async function begin() {
  const slow = createSlowTool();
  const calls = Array.from({ length: CALLS }, (_, index) => ({ id: `c${index}`, name: 'slow', arguments: {} }));
  const read = { id: 'read', name: 'read_file', arguments: { path: 'missing.txt' } };
  const model = createScriptedModel({ calls: [...calls, read] });
  const settings = { 'approvals.mode': 'all' };
  const headless = await startHeadless({ model, settings, ports: { producers: [], tools: [slow.tool, readFileTool] } });
  atTestEnd(() => headless.end());
  const opened = await headless.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { id } = opened.value.log;
  const responses = async () =>
    parseLines(await headless.events(id)).filter((event) => event.type === 'tool_call_response');
  return { slow, headless, id, responses };
}

test('60 commands of one answer run eight at a time; a file read does not wait for them', async () => {
  const { slow, headless, id, responses } = await begin();
  const read = new Promise<void>((resolve) => {
    const listening = headless.earshot.onDidChange(({ folded }) => {
      if (folded?.event.type !== 'tool_call_response') return;
      listening.dispose();
      resolve();
    });
  });
  await headless.earshot.send(id, 'Go.');
  await slow.untilRan(8);
  await read;
  expect((await responses()).map((event) => event.id)).toEqual(['read']);
  for (let done = 1; done <= CALLS; done++) {
    await slow.untilRan(Math.min(CALLS, done + 7));
    slow.end();
  }
  await headless.earshot.settled(id);
  expect([slow.ran(), slow.most()]).toEqual([CALLS, 8]);
  expect((await responses()).filter(({ is_error }) => !is_error)).toHaveLength(CALLS);
});

test('a stop answers the waiting commands at once, and none of them runs', async () => {
  const { slow, headless, id, responses } = await begin();
  await headless.earshot.send(id, 'Go.');
  await slow.untilRan(8);
  await headless.earshot.stop(id);
  expect([slow.ran(), slow.most()]).toEqual([8, 8]);
  const all = await responses();
  expect(all).toHaveLength(CALLS + 1);
  // Whether the file was read before the stop varies.
  const contents = all.filter((event) => event.id !== 'read').map(({ content }) => content);
  expect(contents.filter((content) => content === 'Cancelled by the user.')).toHaveLength(CALLS - 8);
});
