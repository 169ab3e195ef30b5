// What must become visible or focused automatically: a new chat, an approval, a message that was just sent.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ScriptedAnswer, type ScriptedServer, startScriptedServer } from '../support/models/scriptedServer.ts';
import { firstUnlessFull } from '../support/runs.ts';
import { useSharedWorkbench } from '../support/sharedWorkbench.ts';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());

const workbench = useSharedWorkbench(async () => ({
  settings: { 'earshot.baseUrl': server.baseUrl, 'earshot.model': 'scripted-model' },
}));

beforeEach(async () => {
  server.restart();
  await workbench.openChat();
  await workbench.reset();
});

const done: ScriptedAnswer = { text: ['That is done.'] };
let number = 0;
const run = (command: string) => ({ id: `a${++number}`, name: 'run_command', arguments: { command } });
const focused = () =>
  workbench
    .chat()
    .locator('*:focus')
    .evaluate((element) => element.getAttribute('aria-label') ?? element.textContent);

/** How much of the element is in the visible part of the transcript, from 0 to 1. */
async function visiblePart(selector: string): Promise<number> {
  return workbench
    .transcript()
    .locator(selector)
    .last()
    .evaluate((element) => {
      const area = element.closest('.scroller')?.getBoundingClientRect();
      const own = element.getBoundingClientRect();
      if (area === undefined || own.height === 0) return 0;
      const inside = Math.min(own.bottom, area.bottom) - Math.max(own.top, area.top);
      return Math.max(0, inside) / Math.min(own.height, area.height);
    });
}

test('New Chat and Open Conversation show a hidden view and focus the composer', async () => {
  server.script(done, done);
  await workbench.say('First.');
  await workbench.settled();
  const hide = async () => {
    await workbench.command('View: Toggle Secondary Side Bar Visibility');
    await workbench.composer().waitFor({ state: 'hidden' });
  };
  await hide();
  await workbench.command('Earshot: New Chat');
  await workbench.chat().locator('.welcome').waitFor();
  await expect.poll(focused).toBe('Message to Earshot');
  await workbench.page.keyboard.type('typed at once');
  expect(await workbench.composer().inputValue()).toBe('typed at once');
  await workbench.screenshot('attention-new-chat');
  await workbench.composer().fill('');
  await hide();
  await workbench.startCommand('Earshot: Open Conversation');
  await workbench.page.locator('.quick-input-list .monaco-list-row').first().click();
  await workbench.transcript().getByText('That is done.').first().waitFor();
  await expect.poll(focused).toBe('Message to Earshot');
});

test('an approval right after Enter gets the focus once typing stops; typed keys go to the composer and approve nothing', async () => {
  server.script({ calls: [run('echo typed')] }, done);
  await workbench.say('Go on.');
  await expect.poll(focused).toBe('Approval: Run echo typed');
  await workbench.screenshot('attention-approval');
  await workbench.page.keyboard.press('Enter');
  await workbench.page.keyboard.press('Space');
  await workbench.page.keyboard.type('but first');
  expect(await workbench.composer().inputValue()).toBe('but first');
  expect(await focused()).toBe('Message to Earshot');
  const approve = workbench.card('Run echo typed').getByRole('button', { name: 'Approve' });
  await approve.waitFor();
  await workbench.composer().fill('');
  await approve.click();
  await workbench.settled();
});

test('sending while scrolled up scrolls to the message, the answer and an approval', async () => {
  const long = Array.from({ length: 120 }, (_, line) => `Paragraph ${line}.\n\n`).join('');
  server.script({ text: [long] }, { calls: [run('echo below')] }, { text: [long, 'The end.'] });
  await workbench.say('Tell me a lot.');
  await workbench.settled();
  const scroller = workbench.transcript();
  await scroller.hover();
  await workbench.page.mouse.wheel(0, -20_000);
  await workbench.chat().getByRole('button', { name: 'Scroll to bottom' }).waitFor();
  await workbench.screenshot('attention-scrolled-up');
  await workbench.say('And now this.');
  await expect.poll(() => visiblePart('.request')).toBeGreaterThan(0.9);
  await workbench.card('Run echo below').getByRole('button', { name: 'Approve' }).waitFor();
  await expect.poll(() => visiblePart('.approval-buttons')).toBeGreaterThan(0.9);
  await workbench.screenshot('attention-sent');
  await workbench.card('Run echo below').getByRole('button', { name: 'Approve' }).click();
  await workbench.settled();
  await expect.poll(() => visiblePart('.item')).toBeGreaterThan(0.9);
  // If the user scrolls up while output arrives, the position does not change.
  await scroller.hover();
  await workbench.page.mouse.wheel(0, -20_000);
  await workbench.chat().getByRole('button', { name: 'Scroll to bottom' }).waitFor();
});

const THEMES = ['Default Dark Modern', 'Default Light Modern', 'Default High Contrast', 'Default High Contrast Light'];

test('a focused approval is shown in every theme and in a narrow window', async () => {
  server.script({ calls: [run('echo narrow')] }, done);
  await workbench.say('Go on.');
  await expect.poll(focused).toBe('Approval: Run echo narrow');
  for (const theme of firstUnlessFull(THEMES)) {
    await workbench.setTheme(theme);
    const name = theme.includes('High') ? 'high-contrast' : theme.includes('Light') ? 'vscode-light' : 'vscode-dark';
    await workbench.chat().locator(`body[class*="${name}"]`).waitFor();
    await workbench.screenshot(`attention-approval-${theme}`);
  }
  await workbench.page.setViewportSize({ width: 720, height: 700 });
  await workbench.screenshot('attention-approval-narrow');
  await workbench.page.setViewportSize({ width: 1280, height: 800 });
  await workbench.setTheme('Default Dark Modern');
  await workbench.chat().getByRole('button', { name: 'Stop', exact: true }).click();
  await workbench.settled();
});
