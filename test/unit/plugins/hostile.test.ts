// Plugins that break the rules: wrong fields, long lines, forks, floods, ignored shutdown, closed pipes.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { isAlive } from '../../../src/node/kernelLock.ts';
import { readProcesses } from '../../../src/node/platform/procTable.ts';
import { programSchema, requestSchemas } from '../../../src/protocol/plugin.ts';
import { createManualClock } from '../../support/manualClock.ts';
import { createPluginWorld } from '../../support/plugins/pluginWorld.ts';

type Json = Record<string, unknown>;

/** A valid message of each type, made from its schema. */
function example(schema: z.core.$ZodType): unknown {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'string':
      return 'text';
    case 'int' as never:
    case 'number':
      return 1;
    case 'boolean':
      return true;
    case 'literal':
      return def.values[0];
    case 'enum':
      return Object.values(def.entries)[0];
    case 'optional':
    case 'nullable':
    case 'default':
      return example(def.innerType);
    case 'array':
      return [example(def.element)];
    case 'union':
      return example(def.options[0] as z.core.$ZodType);
    case 'record':
      return { key: example(def.valueType) };
    case 'object':
      return Object.fromEntries(Object.entries(def.shape).map(([name, one]) => [name, example(one)]));
    default:
      return 'anything';
  }
}

const WRONG: readonly unknown[] = [null, 7.5, -1, true, 'x', '', [], [[]], {}, { type: 'x' }];

/** Every message with every field wrong in turn, also inside objects and lists; only those that the schema refuses. */
function* wrongMessages(): Generator<Json> {
  for (const schema of Object.values(requestSchemas)) {
    const options = schema instanceof z.ZodDiscriminatedUnion ? schema.options : [schema];
    for (const option of options) {
      const valid = example(option) as Json;
      for (const path of pathsIn(valid)) {
        for (const wrong of WRONG) {
          const message = structuredClone(valid);
          if (setAt(message, path, wrong) && !schema.safeParse(message).success) yield message;
        }
        const without = structuredClone(valid);
        if (setAt(without, path, undefined) && !schema.safeParse(without).success) yield without;
      }
    }
  }
}

function pathsIn(value: unknown, prefix: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [[...prefix, name], ...pathsIn(inner, [...prefix, name])]);
}

function setAt(target: Json, path: readonly string[], value: unknown): boolean {
  const [name = '', ...rest] = path;
  if (rest.length > 0) return setAt(target[name] as Json, rest, value);
  if (value === undefined) Reflect.deleteProperty(target, name);
  else target[name] = value;
  return true;
}

test('every message with every field wrong in turn is answered with an error and changes nothing', async () => {
  const world = await createPluginWorld();
  const id = await world.conversation();
  const before = await world.headless.events(id);
  const plugin = await world.attach('tea', { approve: true });
  const messages = [...wrongMessages()];
  expect(messages.length).toBeGreaterThan(300);
  for (const message of messages) {
    plugin.send(message);
    const error = await plugin.next((one) => one.type === 'error');
    expect(error, JSON.stringify(message)).toMatchObject({
      request: typeof message['type'] === 'string' ? message['type'] : '',
    });
    // A valid line in between, because 20 malformed ones in a row would end the plugin.
    plugin.send({ type: 'log', level: 'debug', message: 'still here' });
  }
  expect(await plugin.ask({ type: 'read_config', path: 'mode' })).toMatchObject({ type: 'config' });
  expect(await world.headless.events(id)).toBe(before);
  expect(world.errors).toEqual([]);
});

test('a line of 8 MiB is read; one byte more ends the plugin with an error', async () => {
  const world = await createPluginWorld();
  const plugin = await world.attach();
  const log = (length: number) => {
    const [head, tail] = ['{"type":"log","level":"debug","message":"', '"}'];
    return `${head}${'x'.repeat(length - head.length - tail.length)}${tail}\n`;
  };
  plugin.send(log(8 * 1024 * 1024));
  expect(await plugin.ask({ type: 'read_config', path: 'mode' })).toMatchObject({ type: 'config' });
  plugin.send(log(9 * 1024 * 1024));
  expect(await plugin.next('error')).toMatchObject({ message: 'It sent a line longer than 8 MiB.' });
  await plugin.closed;
});

/** A plugin written in shell. */
async function shell(script: string, clock = createManualClock()) {
  const world = await createPluginWorld({ clock });
  world.programs.set('sh', {
    command: ['/bin/sh', '-c', script],
    run: 'allow',
    start: 'manual',
    options: {},
    approve: false,
  });
  const ran = await world.host.run('sh');
  expect(ran).toEqual({ ok: true, value: undefined });
  return { world, clock, host: world.host };
}

test.skipIf(process.platform !== 'linux')(
  'a plugin that forks and leaves its group is ended with all it has started',
  async () => {
    // One `sleep` in its own session, and one in the background.
    const { world, host } = await shell(
      'setsid sleep 97531 & sleep 97531 & echo \'{"type":"log","level":"info","message":"forked"}\'; read line; echo \'{"type":"exit","code":0}\'',
    );
    await expect.poll(() => world.output.join('\n'), { interval: 5 }).toContain('forked');
    const sleeping = () =>
      readProcesses().filter(({ name, ended, pid }) => name === 'sleep' && !ended && isOurs(pid)).length;
    await host.ended('sh');
    await expect.poll(sleeping, { interval: 10 }).toBe(0);
    expect(host.statuses).toMatchObject([{ state: 'stopped' }]);
  },
);

function isOurs(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('97531');
  } catch {
    return false;
  }
}

test('a plugin that ignores shutdown is killed after 5 s', async () => {
  const { host, clock, world } = await shell('trap "" TERM; while :; do read line || sleep 1; done');
  const { pid } = { pid: host.pidOf('sh') ?? 0 };
  expect(isAlive(pid)).toBe(true);
  const stopped = host.stop('sh');
  expect(host.statuses).toMatchObject([{ state: 'stopping' }]);
  clock.advance(4999);
  await Promise.resolve();
  expect(isAlive(pid)).toBe(true);
  clock.advance(1);
  await stopped;
  expect(isAlive(pid)).toBe(false);
  expect(world.errors).toEqual([]);
});

test('a plugin that closes its output without exit has failed, unless it was shutting down', async () => {
  const { host } = await shell('exit 3');
  await host.ended('sh');
  expect(host.statuses).toMatchObject([
    { state: 'failed', detail: 'It closed its output without “exit”. It ended with code 3.' },
  ]);
  const polite = await shell('while read line; do case $line in *shutdown*) exit 0;; esac; done');
  await polite.host.stop('sh');
  expect(polite.host.statuses).toMatchObject([{ state: 'stopped' }]);
});

test('a plugin that cannot be started has failed with the reason', async () => {
  const { world, host } = await shell('exit 0');
  await host.ended('sh');
  world.programs.set('sh', {
    command: ['/no/such/program'],
    run: 'allow',
    start: 'manual',
    options: {},
    approve: false,
  });
  expect(await host.run('sh')).toMatchObject({
    ok: false,
    failure: { message: 'The program “/no/such/program” was not found.' },
  });
});

test('a flood on stderr is drained and cut; the plugin continues', async () => {
  const { world, host } = await shell(
    'yes "a line of errors" | head -c 20000000 >&2; echo \'{"type":"print","text":"after the flood"}\'; echo \'{"type":"exit","code":0}\'',
  );
  await host.ended('sh');
  expect(world.output).toContain('sh: after the flood');
  expect(world.output.join('\n').length).toBeLessThan(300_000);
  expect(world.output.some((line) => /bytes of its error output were left out/.test(line))).toBe(true);
});

test('a plugin of a newer protocol is ended, and the view says why', async () => {
  const { host } = await shell(
    'echo \'{"type":"ready","protocol":9}\'; while read line; do case $line in *shutdown*) exit 0;; esac; done',
  );
  await host.ended('sh');
  expect(host.statuses[0]?.detail).toContain('protocol 9');
});

test('a plugin that writes only garbage is ended after 20 lines', async () => {
  const { host, clock } = await shell('while :; do echo garbage || exit; done');
  await expect.poll(() => host.statuses[0]?.state, { interval: 5 }).toBe('stopping');
  const ended = host.ended('sh');
  clock.advance(5000);
  await ended;
  expect(host.statuses).toMatchObject([{ state: 'failed', detail: 'It sent 20 malformed lines in a row.' }]);
});

test.each([[[]], [['a\0b']], [['sh', '\0']], ['sh']])('the command %j is not valid', (command) => {
  expect(programSchema.safeParse({ command }).success).toBe(false);
});

test('an empty program name is not found', async () => {
  const { world, host } = await shell('exit 0');
  await host.ended('sh');
  world.programs.set('sh', { command: [''], run: 'allow', start: 'manual', options: {}, approve: false });
  expect(await host.run('sh')).toMatchObject({ ok: false, failure: { code: 'plugin' } });
});
