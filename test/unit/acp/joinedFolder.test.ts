// Sessions in a window of VS Code, from the messages of the window on.
import { expect, test } from 'vitest';
import { atTestEnd } from '../../support/endings.ts';
import { ClientFrontend } from '../../../src/acp/frontend.ts';
import { JoinedFolder } from '../../../src/acp/joinedFolder.ts';
import { type HostReplies, type RequestFields } from '../../../src/protocol/plugin.ts';

const SESSION = 'tea';

function createFolder() {
  const warnings: string[] = [];
  const folder = new JoinedFolder({
    folder: '/shop',
    snapshots: { get: async () => undefined },
    effectOf: () => undefined,
    traitsOf: () => undefined,
    window: {
      request: async <T extends keyof HostReplies>(_type: T, _fields: RequestFields<T>) =>
        ({ type: 'query_started', conversation: SESSION, turn: 't1' }) as unknown as HostReplies[T],
      end: () => undefined,
    },
    listener: {
      frontend: new ClientFrontend(
        {
          update: () => undefined,
          started: () => undefined,
          output: () => undefined,
          request: async () => undefined,
          report: () => undefined,
        },
        { effectOf: () => undefined, folder: '/shop' },
      ),
      event: () => undefined,
      lost: () => undefined,
    },
    asks: true,
    warn: (message) => warnings.push(message),
    report: (what, error) => {
      throw new Error(what, { cause: error });
    },
  });
  atTestEnd(() => folder.close());
  const receive = (data: object) =>
    folder.receive({
      type: 'event',
      sub_id: SESSION,
      conversation: SESSION,
      data: { type: 'query_complete', ...data },
    });
  return { folder, receive, warnings };
}

test('the end of a turn that the window describes in an unknown way is a failure, not a success', async () => {
  for (const data of [{ outcome: 'limited' }, { outcome: 7, message: 'tea' }, {}]) {
    const { folder, receive } = createFolder();
    const prompted = folder.prompt(SESSION, 'Make tea.', []);
    await new Promise((resolve) => setImmediate(resolve));
    receive({ turn: 't1', ...data });
    expect(await prompted).toMatchObject({ ok: false });
  }
});

test('the end of a turn without its name is reported and ends no other', async () => {
  const { folder, receive, warnings } = createFolder();
  const prompted = folder.prompt(SESSION, 'Make tea.', []);
  await new Promise((resolve) => setImmediate(resolve));
  receive({ turn: 7, outcome: 'error' });
  expect(warnings).toHaveLength(1);
  receive({ turn: 't1', outcome: 'done' });
  expect(await prompted).toEqual({ ok: true, value: { stopped: false } });
});
