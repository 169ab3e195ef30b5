// A file that changes faster than the throttle allows: held notifications are replaced or withdrawn, so none is outdated.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Emitter } from '../../../src/base/emitter.ts';
import { type Producer } from '../../../src/core/ports/ports.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

let headless: Headless | undefined;
let server: ScriptedServer | undefined;

afterEach(async () => {
  await headless?.end();
  await server?.stop();
});

/** The real producer, which also fires an event for each publication. */
function announced(producer: Producer, published: Emitter<string>): Producer {
  return {
    name: producer.name,
    start: (publisher, seen, host) =>
      producer.start(
        {
          publish: (draft, to, sender) => {
            const settled = publisher.publish(draft, to, sender);
            published.fire(draft.message);
            return settled;
          },
          withdraw: (...args) => publisher.withdraw(...args),
        },
        seen,
        host,
      ),
  };
}

function next<T>(
  listen: (listener: (value: T) => void) => { dispose(): void },
  fits: (value: T) => boolean,
): Promise<T> {
  return new Promise((resolve) => {
    const listening = listen((value) => {
      if (!fits(value)) return;
      listening.dispose();
      resolve(value);
    });
  });
}

test('two changes within two seconds and a change back withdraw every notification, and none follows', async () => {
  server = await startScriptedServer(
    { calls: [{ id: 'read', name: 'read_file', arguments: { path: 'a.txt' } }] },
    { text: ['Read.'] },
  );
  const published = new Emitter<string>(() => undefined);
  const model = createChatModel({ baseUrl: server.baseUrl, model: 'scripted', apiKey: async () => undefined });
  headless = await startHeadless({ model, watchProducer: (producer) => announced(producer, published) });
  const { earshot: running, folder } = headless;
  const file = join(folder, 'a.txt');
  await writeFile(file, 'as read\n');
  const opened = await running.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log } = opened.value;
  await running.send(log.id, 'Go on.');
  await running.settled(log.id);

  const first = next(published.event, (message) => message.includes('+first'));
  await writeFile(file, 'first\n');
  await first;
  const second = next(published.event, (message) => message.includes('+second'));
  await writeFile(file, 'second\n');
  await second;
  const withdrawn = next(log.onDidAppend, ({ event }) => event.type === 'notification_withdrawn');
  await writeFile(file, 'as read\n');
  await withdrawn;
  // Closing the window publishes what the throttle still holds.
  headless = await headless.restart();
  const events = (await headless.events(log.id))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LogEvent);
  // How many are queued depends on the machine's speed, but none is queued after the last withdrawal.
  const kinds = events.map(({ type }) => type);
  expect(kinds.lastIndexOf('notification_queued')).toBeLessThan(kinds.lastIndexOf('notification_withdrawn'));
  const again = await headless.earshot.open(log.id);
  expect(again).toMatchObject({ ok: true });
  expect(again.ok && again.value.log.state.pending.isEmpty).toBe(true);
});
