// A plugin's notification, end to end: queued, delivered with the next tool result, muted by its source, never consent.
import { expect, test } from 'vitest';
import { createPluginWorld } from '../support/plugins/pluginWorld.ts';

const call = (id: string) => ({ calls: [{ id, name: 'run_command', arguments: { command: `echo ${id}` } }] });
const boiled = {
  type: 'notify',
  kind: { source: 'kettle', name: 'boiled' },
  level: 'critical',
  message: 'The water boils.',
};

async function begin(settings: object = {}) {
  const world = await createPluginWorld({ answers: [call('a'), { text: ['Done.'] }], settings });
  const id = await world.conversation();
  const plugin = await world.attach('tea', { approve: true });
  await plugin.ask({ type: 'subscribe', sub_id: 's', conversation: id });
  await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
  await plugin.event(({ respond }) => respond !== undefined);
  expect(await plugin.ask({ ...boiled, conversation: id })).toMatchObject({ type: 'done', matched: 1 });
  await plugin.event(({ data }) => data.type === 'notification_queued');
  const approve = { type: 'respond', sub_id: 's', respond: 'tool_approval', tool_call_id: 'a', action: 'approve' };
  const end = async () => {
    expect(await plugin.ask(approve)).toMatchObject({ type: 'done' });
    await plugin.event(({ data }) => data.type === 'query_complete');
    return JSON.stringify(world.model.requests.at(-1)?.messages);
  };
  return { world, id, plugin, end };
}

test('a notification of a plugin is delivered with the next tool result, under its prefixed source and lowered to error', async () => {
  const { world, id, plugin, end } = await begin();
  // The notification neither approves nor interrupts: the call still waits for approval.
  expect(world.earshot.get(id)?.log.state.turn.unanswered).toHaveLength(1);
  const sent = await end();
  expect(sent).toContain('source=\\"plugin.tea.kettle\\" name=\\"boiled\\" level=\\"error\\" origin=\\"plugin\\"');
  expect(sent).toContain('The water boils.');
  const carrier = plugin.received.find((one) => one.type === 'event' && one.data.type === 'tool_call_response');
  expect(carrier).toMatchObject({ data: { notifications: { shown: [expect.any(String)] } } });
});

test('a notification of a plugin can be muted by its source', async () => {
  const { end } = await begin({ 'notifications.kinds': { 'plugin.tea.kettle': { enable: false } } });
  expect(await end()).not.toContain('The water boils.');
});

test('the producer of a plugin is switched off by its name', async () => {
  const world = await createPluginWorld({ settings: { 'notifications.producers': { 'plugin.tea': false } } });
  const id = await world.conversation();
  const plugin = await world.attach('tea');
  expect(await plugin.ask({ ...boiled, conversation: id })).toMatchObject({ matched: 0 });
});

test('only the settings can raise a notification of a plugin to critical', async () => {
  const { end } = await begin({ 'notifications.levels': { 'plugin.tea.kettle.boiled': 'critical' } });
  expect(await end()).toContain('level=\\"critical\\"');
});

test('a plugin cannot set the wake field, neither as a field nor by its data, its scopes or the name of its kind', async () => {
  const world = await createPluginWorld();
  const id = await world.conversation();
  const plugin = await world.attach('tea');
  await plugin.ask({ type: 'subscribe', sub_id: 's', conversation: id });
  const wake = { wake: true, grant: 'g1', data: { wake: true, grant: 'g1' }, scopes: ['mention:tea'] };
  const due = { ...boiled, ...wake, kind: { source: 'time', name: 'due' }, conversation: id };
  expect(await plugin.ask(due)).toMatchObject({ type: 'done', matched: 1 });
  const { data } = await plugin.event((one) => one.data.type === 'notification_queued');
  const notification = (data as { notification?: object }).notification;
  expect(notification).toMatchObject({ kind: { source: 'plugin.tea.time', name: 'due' }, level: 'error' });
  expect(notification).not.toHaveProperty('wake');
  expect(notification).not.toHaveProperty('grant');
  expect(world.model.requests).toHaveLength(0);
});
