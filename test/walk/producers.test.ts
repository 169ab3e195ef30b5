// Producers registered and removed at run time, with a setting for their own name, from publication to the request.
import { expect, test } from 'vitest';
import { toDisposable } from '../../src/base/disposable.ts';
import { Emitter } from '../../src/base/emitter.ts';
import { type Producer, type Publisher } from '../../src/core/ports/ports.ts';
import { scopeOf } from '../../src/protocol/scopes.ts';
import { readSettings } from '../../src/protocol/settings.ts';
import { type ScriptedAnswer } from '../support/models/scriptedServer.ts';
import { beginWalk, type Walked } from '../support/walk/walking.ts';

const end: ScriptedAnswer = { text: ['Done.'] };
const lastMessage = ({ messages }: Walked, request: number) => JSON.stringify(messages(request).at(-1));

/** A producer with its own source that samples the last reading at delivery points. */
function createWeather() {
  const running = new Set<Publisher>();
  const producer: Producer = {
    name: 'weather',
    start: (publisher) => {
      running.add(publisher);
      return toDisposable(() => running.delete(publisher));
    },
    sample: () => [
      {
        kind: { source: 'weather', name: 'sampled' },
        subject: 'weather',
        draft: { level: 'info', message: 'Sampled: calm.', origin: 'plugin' },
      },
    ],
  };
  return {
    producer,
    running,
    publish: (message: string, id: string) =>
      Promise.all(
        [...running].map((publisher) =>
          publisher.publish({
            kind: { source: 'weather', name: 'changed' },
            level: 'info',
            message,
            subject: `weather:${message}`,
            scopes: [scopeOf('conversation', id)],
            origin: 'plugin',
            at: new Date(0).toISOString(),
          }),
        ),
      ),
  };
}

async function begin(answers: number) {
  const values = new Map<string, unknown>();
  const changed = new Emitter<void>((error) => {
    throw error;
  });
  const walked = await beginWalk(
    Array.from({ length: answers }, () => end),
    {
      ports: {
        settings: () => {
          const { settings, problems } = readSettings((name) => values.get(name));
          expect(problems).toEqual([]);
          return settings;
        },
        onDidChangeSettings: changed.event,
      },
    },
  );
  const set = (name: string, value: unknown) => {
    values.set(name, value);
    changed.fire();
  };
  return { walked, set, producers: walked.headless.earshot.producers };
}

test('a producer registered at run time is delivered, is switched off by its own name, and is gone after dispose', async () => {
  const { walked, set, producers } = await begin(5);
  const weather = createWeather();
  await walked.go();
  const registration = producers.register(weather.producer);
  await weather.publish('It rains.', walked.id);
  await walked.go();
  expect(lastMessage(walked, 1)).toMatch(/source=\\"weather\\" name=\\"changed\\".*It rains\./);
  expect(lastMessage(walked, 1)).toContain('Sampled: calm.');

  set('notifications.producers', { weather: false });
  expect(weather.running.size).toBe(0);
  await walked.go();
  expect(lastMessage(walked, 2)).not.toContain('weather');

  set('notifications.producers', {});
  await weather.publish('The sun is out.', walked.id);
  await walked.go();
  expect(lastMessage(walked, 3)).toContain('The sun is out.');

  registration.dispose();
  expect(weather.running.size).toBe(0);
  set('notifications.producers', {});
  expect(weather.running.size).toBe(0);
  await walked.go();
  expect(lastMessage(walked, 4)).not.toContain('weather');
});

test('settings that name an unknown producer or kind apply once it is registered', async () => {
  const { walked, set, producers } = await begin(2);
  const weather = createWeather();
  set('notifications.producers', { weather: false });
  set('notifications.kinds', { weather: { sampled: false } });
  set('notifications.levels', { 'weather.changed': 'error' });
  await walked.go();
  const first = producers.register(weather.producer);
  expect(weather.running.size).toBe(0);
  set('notifications.producers', {});
  await weather.publish('It hails.', walked.id);
  await walked.go();
  expect(lastMessage(walked, 1)).toMatch(/level=\\"error\\".*It hails\./);
  expect(lastMessage(walked, 1)).not.toContain('Sampled');
  expect(() => producers.register(weather.producer)).toThrow('a producer named weather is registered already');
  first.dispose();
  producers.register(weather.producer).dispose();
  expect(weather.running.size).toBe(0);
});

test('removing a failed producer cancels its restart and its problem', async () => {
  const { walked, producers } = await begin(0);
  let starts = 0;
  const registration = producers.register({
    name: 'broken',
    start: () => {
      starts += 1;
      throw new Error('no sensor');
    },
  });
  expect(producers.problems).toHaveLength(1);
  registration.dispose();
  expect(producers.problems).toEqual([]);
  walked.clock.advance(60_000);
  expect(starts).toBe(1);
});
