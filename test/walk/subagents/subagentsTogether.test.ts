// A parent and two subagents on one repository, with messages, changed files, a killed subagent and a restart:
// everything is delivered once.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createMessageTools } from '../../../src/tools/messageTools.ts';
import { createFilesProducer } from '../../../src/producers/files/files.ts';
import { createMessagesProducer } from '../../../src/producers/messages.ts';
import { atTestEnd } from '../../support/endings.ts';
import { createTestHub, makeHome } from '../../support/walk/hubWalks.ts';
import { reviewing, value } from '../../support/walk/reviewing.ts';
import { beginFamily, call, done, type Family, results, start } from '../../support/walk/subagentWalks.ts';

const NUMBERS = '1\n2\n3\n4\n5\n6\n7\n8\n9\n';

async function beginOnHub(): Promise<{ family: Family; name: string }> {
  let folder = '';
  const hub = createTestHub(await makeHome(), () => folder);
  const family = await beginFamily(
    [],
    { one: [], two: [] },
    {
      checkpoints: true,
      ports: { hub },
      producers: (deps) => [createFilesProducer(deps), createMessagesProducer({ ...deps, hub })],
    },
  );
  ({ folder } = family.headless);
  const tools = family.headless.earshot.tools.register(createMessageTools(hub));
  atTestEnd(async () => tools.dispose());
  await hub.refresh();
  const named = await family.event(({ type }) => type === 'hub_agent');
  return { family, name: named.type === 'hub_agent' ? named.name : '' };
}

/** The kinds of all notifications delivered to the parent, oldest first. */
async function delivered(family: Family): Promise<string[]> {
  return (await family.events()).flatMap((event) =>
    'notifications' in event && event.notifications !== undefined
      ? [...event.notifications.text.matchAll(/<notification source="(\w+)" name="(\w+)"/g)].map(
          ([, source, name]) => `${source}.${name}`,
        )
      : [],
  );
}

test('names, messages, changed files and ends are each delivered once, over a kill and a restart', async () => {
  const { family, name } = await beginOnHub();
  const { server, agents, headless, id } = family;
  await writeFile(join(headless.folder, 'n.txt'), NUMBERS);
  server.script({ calls: [call('read_file', { path: 'n.txt' })] }, { calls: [start('one'), start('two')] }, done);
  agents['one']?.script(
    { calls: [call('read_file', { path: 'n.txt' })] },
    { calls: [call('edit_file', { path: 'n.txt', edits: [{ old_text: '2\n', new_text: 'two\n' }] })] },
    { calls: [call('send_message', { to: [name], content: 'I changed n.txt.' })] },
    { text: ['One is done.'] },
  );
  // The second subagent continues once the first has changed the file that it has read.
  agents['two']?.script(
    { calls: [call('read_file', { path: 'n.txt' })] },
    { calls: [call('write_file', { path: 'n.txt', content: 'mine\n' })], hang: true },
    { text: ['Waiting.'], hang: true },
  );
  await family.go();
  await family.ended('one');
  await agents['two']?.request(1);
  const received = await family.event(
    (event) => event.type === 'notification_queued' && event.notification.kind.source === 'message',
  );
  expect(JSON.stringify(received)).toContain('The agent one wrote to you');
  const changed = await family.event(
    (event) => event.type === 'notification_queued' && event.notification.kind.name === 'changed',
  );
  expect(JSON.stringify(changed)).toContain('n.txt changed since you read it, by the subagent “one”');

  // A file that another agent changed meanwhile is not overwritten.
  agents['two']?.release();
  await agents['two']?.request(2);
  expect(results(agents['two']).at(-1)).toContain('Nothing was written. n.txt has changed since you read it (+1 −1):');
  expect(await readFile(join(headless.folder, 'n.txt'), 'utf8')).toBe(NUMBERS.replace('2', 'two'));

  // The user stops the second subagent in its own conversation.
  await headless.earshot.stop(family.child('two'));
  await family.ended('two');
  await family.event((event) => event.type === 'notification_queued' && event.notification.kind.name === 'failed');
  await family.event((event) => event.type === 'notification_queued' && event.notification.kind.name === 'stopped');

  // Undoing the parent's own change keeps the changes of the subagent.
  server.script(
    { calls: [call('edit_file', { path: 'n.txt', edits: [{ old_text: '8\n', new_text: 'eight\n' }] })] },
    done,
  );
  await family.go('And now?');
  const { review } = reviewing({ headless, id });
  expect((await review.files()).map(({ path }) => path)).toEqual(['n.txt']);
  await value(review.undo());
  expect(await readFile(join(headless.folder, 'n.txt'), 'utf8')).toBe(NUMBERS.replace('2', 'two'));

  const expected = ['file.changed', 'message.received', 'tool.failed', 'tool.stopped'];
  expect((await delivered(family)).sort()).toEqual(expected);
  await family.restart();
  server.script(done, done);
  await family.go('After the restart?');
  await family.go('And now?');
  // The undo may add another file.changed, because the model did not make that change.
  expect((await delivered(family)).filter((kind) => kind !== 'file.changed').sort()).toEqual(
    expected.filter((kind) => kind !== 'file.changed'),
  );
  expect(family.headless.errors).toEqual([]);
});
