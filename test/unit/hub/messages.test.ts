// Messages and threads of the hub (WIRE B), over real sockets.
import { expect, test } from 'vitest';
import { type Answer, withHub } from '../../support/testHub.ts';

const contents = (page: Answer) =>
  (page['messages'] as { body: { content: string } }[]).map(({ body }) => body.content);

test('a message has every field of the protocol', () =>
  withHub(async (hub) => {
    const author = await hub.agent('author', { role: 'implementer', module: 'auth' });
    const reader = await hub.agent('reader');
    const scopes = [{ type: 'file', value: 'src/a.ts' }];
    const sent = await author.call('message.send', {
      content: 'hello',
      format: 'plain',
      structured: { answer: 42 },
      scopes,
      refs: [{ type: 'commit', value: 'abc' }],
      mentions: ['@reader', 'reader'],
    });
    expect(sent).toEqual({
      message_id: expect.stringMatching(/^msg_/) as string,
      created_at: expect.any(String) as string,
    });
    expect(await reader.call('message.get', { message_id: sent['message_id'] })).toEqual({
      message: {
        message_id: sent['message_id'],
        thread_id: null,
        author: { agent_id: 'author', name: 'author', role: 'implementer', module: 'auth' },
        body: { format: 'plain', content: 'hello', structured: { answer: 42 } },
        scopes,
        refs: [
          { type: 'commit', value: 'abc' },
          { type: 'mention', value: 'reader' },
        ],
        created_at: sent['created_at'],
        version: 1,
        deleted: false,
        is_read: false,
        cursor: expect.any(String) as string,
      },
    });
  }));

test('the same client_id from the same agent makes one message, also while the first is being sent', () =>
  withHub(async (hub) => {
    const [author, other] = [await hub.agent('author'), await hub.agent('other')];
    const send = { content: 'once', client_id: 'retry-1' };
    const answers = await Promise.all([author.call('message.send', send), author.call('message.send', send)]);
    expect(answers[1]).toEqual(answers[0]);
    expect(await author.call('message.send', { ...send, content: 'changed' })).toEqual(answers[0]);
    expect(await other.call('message.send', send)).not.toEqual(answers[0]);
    await hub.restart();
    const again = await hub.agent('author');
    expect(await again.call('message.send', send)).toEqual(answers[0]);
    expect(contents(await again.call('message.list', { author: 'author' }))).toEqual(['once']);
  }));

test('lists by scope, mention, thread, author and unread, in pages', () =>
  withHub(async (hub) => {
    const [author, reader] = [await hub.agent('author'), await hub.agent('reader')];
    const { cursor } = await reader.call('session.attach', {
      session_id: (await reader.call('agent.whoami'))['session_id'],
    });
    const { thread_id: thread } = await author.call('thread.create', { title: 'Plan' });
    const scope = { type: 'module', value: 'auth' };
    await author.call('message.send', { content: 'plain' });
    await author.call('message.send', { content: 'scoped', scopes: [scope] });
    await author.call('message.send', { content: 'mentioned', mentions: ['reader'] });
    await author.call('message.send', { content: 'threaded', thread_id: thread });
    await reader.call('message.send', { content: 'mine' });
    const list = (params: object) => reader.call('message.list', params);
    expect(contents(await list({ scope }))).toEqual(['scoped']);
    expect(contents(await list({ mention: '@reader' }))).toEqual(['mentioned']);
    expect(contents(await list({ thread_id: thread }))).toEqual(['threaded']);
    expect(contents(await list({ author: 'reader' }))).toEqual(['mine']);
    expect(await list({ unread: true })).toMatchObject({ unread: 4 });
    expect(contents(await list({ limit: 2 }))).toEqual(['threaded', 'mine']);
    const first = await list({ after: cursor, limit: 2 });
    expect([contents(first), first['more']]).toEqual([['plain', 'scoped'], true]);
    const second = await list({ after: first['after'], limit: 100 });
    expect([contents(second), second['more']]).toEqual([['mentioned', 'threaded', 'mine'], false]);
    expect(contents(await list({ after: second['after'] }))).toEqual([]);
    for (const bad of [{ limit: 101 }, { limit: 0 }, { after: 'now' }, { after: '2026-01-01' }]) {
      await expect(list(bad)).rejects.toMatchObject({ code: -32602 });
    }
  }));

test('a listing after a cursor includes messages that were edited since', () =>
  withHub(async (hub) => {
    const [author, reader] = [await hub.agent('author'), await hub.agent('reader')];
    const { message_id: id } = await author.call('message.send', { content: 'first' });
    await author.call('message.send', { content: 'second' });
    const { after } = await reader.call('message.list');
    await author.call('message.edit', { message_id: id, content: 'first, edited' });
    expect(contents(await reader.call('message.list', { after }))).toEqual(['first, edited']);
  }));

test('only the author edits and deletes; both keep the message and raise its version', () =>
  withHub(async (hub) => {
    const [author, other] = [await hub.agent('author'), await hub.agent('other')];
    const { message_id: id } = await author.call('message.send', { content: 'secret', structured: { secret: 1 } });
    const message = { message_id: id };
    await expect(other.call('message.edit', { ...message, content: 'x' })).rejects.toMatchObject({ code: -32000 });
    await expect(other.call('message.delete', message)).rejects.toMatchObject({ code: -32000 });
    expect(await author.call('message.edit', { ...message, content: 'open' })).toEqual({
      message_id: id,
      updated_at: expect.any(String) as string,
      version: 2,
    });
    expect(await author.call('message.delete', message)).toEqual({
      message_id: id,
      deleted_at: expect.any(String) as string,
      version: 3,
    });
    const { message: deleted } = await other.call('message.get', message);
    expect(deleted).toMatchObject({ deleted: true, version: 3, body: { content: '' } });
    expect(JSON.stringify(deleted)).not.toContain('secret');
    await expect(author.call('message.edit', { ...message, content: 'again' })).rejects.toMatchObject({ code: -32000 });
  }));

test('marking as read counts once, for the reader alone, and survives a restart', () =>
  withHub(async (hub) => {
    const [author, reader] = [await hub.agent('author'), await hub.agent('reader')];
    const { message_id: one } = await author.call('message.send', { content: 'one' });
    await author.call('message.send', { content: 'two' });
    const mark = { message_ids: [one, one, 'msg_unknown'] };
    expect(await reader.call('message.markRead', mark)).toEqual({ marked: 1 });
    expect(await reader.call('message.markRead', mark)).toEqual({ marked: 0 });
    await hub.restart();
    const again = await hub.agent('reader');
    expect(await again.call('message.list', { unread: true })).toMatchObject({ unread: 1 });
    expect(contents(await again.call('message.list', { unread: true }))).toEqual(['two']);
    const third = await hub.agent('third');
    expect(await third.call('message.list', { unread: true })).toMatchObject({ unread: 2 });
  }));

test('a reply joins the thread of its message, or starts one that includes it', () =>
  withHub(async (hub) => {
    const [author, reader] = [await hub.agent('author'), await hub.agent('reader')];
    const { message_id: question } = await author.call('message.send', { content: 'Which port?' });
    const replies = await Promise.all(
      ['8080', '9090'].map((content) => reader.call('message.send', { content, reply_to: question })),
    );
    const thread = replies[0]?.['thread_id'];
    expect(replies[1]?.['thread_id']).toBe(thread);
    const again = await author.call('message.send', { content: 'Thanks', reply_to: replies[0]?.['message_id'] });
    expect(again['thread_id']).toBe(thread);
    const found = await reader.call('thread.get', { thread_id: thread });
    expect(contents(found)).toEqual(['Which port?', '8080', '9090', 'Thanks']);
    expect(found['thread']).toMatchObject({
      title: 'Which port?',
      message_count: 4,
      unread_count: 2,
      last_sender: 'author',
    });
  }));

test('threads are created, listed by their last activity, and paged', () =>
  withHub(async (hub) => {
    const author = await hub.agent('author');
    const ids: unknown[] = [];
    for (const title of ['a', 'b', 'c']) ids.push((await author.call('thread.create', { title }))['thread_id']);
    await author.call('message.send', { content: 'newest', thread_id: ids[0] });
    const titles = (page: Answer) => (page['threads'] as { title: string }[]).map(({ title }) => title);
    const first = await author.call('thread.list', { limit: 2 });
    expect([titles(first), first['more']]).toEqual([['a', 'c'], true]);
    const second = await author.call('thread.list', { limit: 2, after: first['after'] });
    expect([titles(second), second['more']]).toEqual([['b'], false]);
    expect((first['threads'] as object[])[0]).toEqual({
      thread_id: ids[0],
      title: 'a',
      message_count: 1,
      unread_count: 0,
      last_activity: expect.any(String) as string,
      last_sender: 'author',
      preview: 'newest',
      created_by: 'author',
      created_at: expect.any(String) as string,
    });
    await expect(author.call('thread.get', { thread_id: 'thr_none' })).rejects.toMatchObject({ code: -32000 });
    await expect(author.call('message.send', { content: 'x', thread_id: 'thr_none' })).rejects.toMatchObject({
      code: -32602,
    });
  }));

test('an update of a thread reaches every subscribed session with its own unread count', () =>
  withHub(async (hub) => {
    const [author, reader, silent] = [await hub.agent('author'), await hub.agent('reader'), await hub.agent('silent')];
    for (const client of [author, reader]) await client.call('subscribe', { mention_role: 'nobody' });
    const { thread_id: thread } = await author.call('thread.create', { title: 'Plan' });
    await author.call('message.send', { content: 'first', thread_id: thread });
    const update = async (client: typeof author) => (await client.pushed('notification.thread.updated')).at(-1)?.params;
    expect(await update(reader)).toEqual({
      thread_id: thread,
      message_count: 1,
      unread_count: 1,
      last_activity: expect.any(String) as string,
      last_sender: 'author',
      preview: 'first',
      timestamp: expect.any(String) as string,
    });
    expect(await update(author)).toMatchObject({ message_count: 1, unread_count: 0 });
    await silent.call('health');
    expect(silent.pushes).toEqual([]);
  }));

test('a burst in one thread causes the first update at once and one more with the final counts', () =>
  withHub(async (hub) => {
    const [author, reader] = [await hub.agent('author'), await hub.agent('reader')];
    await reader.call('subscribe', { mention_role: 'nobody' });
    const { thread_id: thread } = await author.call('thread.create', { title: 'Plan' });
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        author.call('message.send', { content: String(index), thread_id: thread }),
      ),
    );
    await expect.poll(() => reader.pushes.at(-1)?.params).toMatchObject({ message_count: 50, unread_count: 50 });
    expect(reader.pushes.length).toBeLessThan(10);
  }));

test('after markRead only the reader is sent an update', () =>
  withHub(async (hub) => {
    const [author, reader] = [await hub.agent('author'), await hub.agent('reader')];
    for (const client of [author, reader]) await client.call('subscribe', { mention_role: 'nobody' });
    const { thread_id: thread } = await author.call('thread.create', { title: 'Plan' });
    const { message_id: id } = await author.call('message.send', { content: 'first', thread_id: thread });
    await reader.pushed('notification.thread.updated');
    await author.pushed('notification.thread.updated');
    await reader.call('message.markRead', { message_ids: [id] });
    const updates = await reader.pushed('notification.thread.updated', 2);
    expect(updates.at(-1)?.params).toMatchObject({ unread_count: 0 });
    await author.call('health');
    expect(author.pushes).toHaveLength(1);
  }));
