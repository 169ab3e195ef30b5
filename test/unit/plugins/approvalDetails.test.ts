// What a plugin is shown when it is asked for an approval: the reason and the changes, as in the chat.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ApprovalRequest } from '../../../src/core/ports/ports.ts';
import { createPluginWorld } from '../../support/plugins/pluginWorld.ts';

test('an approval has the reason and the preview, and is sent again without what no longer holds', async () => {
  const calls = [{ id: 'd', name: 'delete_file', arguments: { path: '.env' } }];
  const world = await createPluginWorld({ answers: [{ calls }, { text: ['Done.'] }] });
  await writeFile(join(world.headless.folder, '.env'), 'TEA=green\n');
  const id = await world.conversation();
  const plugin = await world.attach('tea', { approve: true });
  await plugin.ask({ type: 'subscribe', sub_id: 's', conversation: id });
  const turn = world.turn(id);
  const asked = () => plugin.event(({ respond }) => respond === 'tool_approval');
  const { data } = await asked();
  expect(data).toMatchObject({
    id: 'd',
    reason: expect.stringContaining('.env') as string,
    preview: { files: [{ path: '.env', kind: 'deleted', hunks: [{ lines: ['-TEA=green'] }] }] },
  });
  const { requests } = world.frontends;
  const { reason: _, ...changed } = requests.approval(id, 'd')?.request as ApprovalRequest;
  requests.approvalChanged({ ...changed, note: 'It says that it is safe.', preview: { files: [] } });
  const again = (await asked()).data;
  expect(again).toMatchObject({ id: 'd', note: 'It says that it is safe.', preview: { files: [] } });
  expect(again).not.toHaveProperty('reason');
  const answer = { respond: 'tool_approval', tool_call_id: 'd', action: 'reject' };
  expect(await plugin.ask({ type: 'respond', sub_id: 's', ...answer })).toMatchObject({ type: 'done' });
  await turn;
});
