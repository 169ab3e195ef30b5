// The conformance suite of WIRE A, with raw JSON lines: over the window's socket, and as a real child process.
import { describe, expect, test } from 'vitest';
import { baseCases } from '../../support/plugins/conformance/baseCases.ts';
import { type ConformanceWorld } from '../../support/plugins/conformance/conformance.ts';
import { conversationCases, windowCases } from '../../support/plugins/conformance/conversationCases.ts';
import { interactiveCases } from '../../support/plugins/conformance/interactiveCases.ts';
import { queryCases } from '../../support/plugins/conformance/queryCases.ts';
import { streamCases } from '../../support/plugins/conformance/streamCases.ts';
import { turnCases } from '../../support/plugins/conformance/turnCases.ts';
import { createPluginWorld } from '../../support/plugins/pluginWorld.ts';
import { runs } from '../../support/runs.ts';

const cases = [
  ...baseCases,
  ...streamCases,
  ...interactiveCases,
  ...queryCases,
  ...turnCases,
  ...conversationCases,
  ...windowCases,
];

async function begin(how: 'attach' | 'spawn'): Promise<ConformanceWorld & { readonly errors: readonly string[] }> {
  const world = await createPluginWorld();
  const { earshot, model, output, errors } = world;
  let plugins = 0;
  return {
    earshot,
    output,
    errors,
    conversation: () => world.conversation(),
    plugin: ({ name, ...program } = {}) => world[how](name ?? `tea-${plugins++}`, program),
    script: (...answers) => model.script(...answers),
    release: () => model.release(),
  };
}

describe('over the window’s socket', () => {
  test.each(cases.map(({ title, run }) => [title, run] as const))('%s', async (_title, run) => {
    const world = await begin('attach');
    await run(world);
    expect(world.errors).toEqual([]);
  });
});

describe('as a child process', () => {
  // The lines are the same, so `npm test` runs only some cases to check the pipes.
  const some = cases.filter((_, index) => index % runs(9, 1) === 0);
  test.each(some.map(({ title, run }) => [title, run] as const))('%s', async (_title, run) => {
    const world = await begin('spawn');
    await run(world);
    expect(world.errors).toEqual([]);
  });
});
