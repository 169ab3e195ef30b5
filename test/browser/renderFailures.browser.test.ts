// Rendering failures: deep Markdown, an item that fails, a page that fails as a whole.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedServer, startScriptedServer } from '../support/models/scriptedServer.ts';
import { useSharedWorkbench } from '../support/sharedWorkbench.ts';

let server: ScriptedServer;

beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());

const workbench = useSharedWorkbench(async () => ({
  settings: { 'earshot.baseUrl': server.baseUrl, 'earshot.model': 'scripted-model' },
  expectedErrors: /the chat page failed/,
}));

/** Makes rendering of exactly this text fail, the given number of times. */
async function poison(text: string, times: number): Promise<void> {
  const script = (root: Element, given: { text: string; times: number }) => {
    const page = root.ownerDocument;
    const create = page.createTextNode.bind(page);
    let left = given.times;
    page.createTextNode = (data: string) => {
      if (data === given.text && left-- > 0) throw new Error('poisoned');
      return create(data);
    };
  };
  await workbench.chat().locator('body').evaluate(script, { text, times });
}

test('1,000 nested quotes and lists are rendered, and so is the next message', async () => {
  server.script({ text: ['>'.repeat(1000), '\n\n', '- '.repeat(1000), 'deep'] }, { text: ['**Alive.**'] });
  await workbench.openChat();
  await workbench.chat().locator('footer').getByText('scripted-model').waitFor();
  await workbench.say('Nest.');
  await workbench.settled();
  expect(await workbench.transcript().locator('blockquote').count()).toBeGreaterThan(5);
  await workbench.say('And now?');
  await workbench.transcript().locator('strong', { hasText: 'Alive.' }).waitFor();
});

test('an item that cannot be rendered says so, keeps its text, and does not affect others', async () => {
  await workbench.reset();
  await poison('bitter', 1000);
  server.script({ text: ['before **bitter** after'] }, { text: ['**Sweet.**'] });
  await workbench.say('Fail.');
  const failed = workbench.transcript().locator('.item', { hasText: 'could not be displayed' });
  await failed.getByText('Show text').click();
  expect(await failed.locator('pre').textContent()).toBe('before **bitter** after');
  await failed.getByRole('button', { name: 'Copy' }).waitFor();
  await workbench.settled();
  await workbench.say('Go on.');
  await workbench.transcript().locator('strong', { hasText: 'Sweet.' }).waitFor();
});

/** The button of the list shows `0/1` for one item: a text outside the items of the transcript. */
const todo = (...texts: readonly string[]) => ({
  calls: [
    { id: `todo-${texts[0]}`, name: 'todo', arguments: { items: texts.map((text) => ({ text, state: 'open' })) } },
  ],
});

test('a page that fails as a whole restarts with the conversation', async () => {
  await workbench.reset();
  await poison('0/1', 2);
  server.script(todo('sour'), { text: ['**Back.**'] });
  await workbench.say('Fail as a whole.');
  await workbench.transcript().locator('strong', { hasText: 'Back.' }).waitFor();
  await (await workbench.openList('To-do')).locator('.todo-item', { hasText: 'sour' }).waitFor();
});

test('a page that fails repeatedly says so and restarts on request', async () => {
  await workbench.reset();
  await poison('0/2', 4);
  server.script(todo('salty', 'sweet'), { text: ['**At last.**'] });
  // The page may fail before the message is visible in its transcript, so the test does not wait for it.
  await workbench.composer().fill('Fail again and again.');
  await workbench.composer().press('Enter');
  await workbench.chat().getByRole('button', { name: 'Restart Chat' }).click();
  await workbench.transcript().locator('strong', { hasText: 'At last.' }).waitFor();
});
