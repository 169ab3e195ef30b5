// A second front end, written only against the client: a terminal chat, in the window's process and connected to it.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { atTestEnd } from '../support/endings.ts';
import { createClientWorld, type Kind, KINDS } from '../support/plugins/clients.ts';
import { type StagedAnswer } from '../support/plugins/stagedModel.ts';
import { TerminalChat } from '../support/terminalChat.ts';

const call = (id: string, name: string, args: Record<string, unknown>) => ({ calls: [{ id, name, arguments: args }] });
const edit = (id: string) =>
  call(id, 'edit_file', { path: 'menu.txt', edits: [{ old_text: 'Tea', new_text: 'Cocoa' }] });
const end = { text: ['All', ' done.'] };

async function open(kind: Kind, ...answers: readonly StagedAnswer[]) {
  const { world, client } = await createClientWorld(kind, { answers });
  let screen = '';
  const chat = new TerminalChat(client, (text) => {
    screen += text;
  });
  atTestEnd(async () => chat.dispose());
  let seen = 0;
  /** Resolves once the text is on the screen, after what earlier calls have found. */
  const shows = async (text: string) => {
    await expect.poll(() => screen.slice(seen), { interval: 10 }).toContain(text);
    seen = screen.indexOf(text, seen) + text.length;
  };
  const menu = join(world.headless.folder, 'menu.txt');
  await writeFile(menu, 'Tea\n');
  return { world, chat, shows, menu, screen: () => screen };
}

describe.each(KINDS)('%s', (kind) => {
  test('follows, sends, approves an edit with its diff, and *Always* covers the next one', async () => {
    const read = call('r', 'read_file', { path: 'menu.txt' });
    const { chat, shows, menu, screen, world } = await open(kind, read, edit('e'), end, edit('f'), end);
    await chat.show();
    await chat.type('Rename the tea.');
    await shows('> Rename the tea.');
    await shows('! edit_file');
    await shows('-Tea');
    await shows('+Cocoa');
    await shows('always: edit_file');
    await chat.type('/approve folder');
    await shows('* edit_file: done');
    await shows('All done.');
    await shows('[ready]');
    expect(await readFile(menu, 'utf8')).toBe('Cocoa\n');
    expect(world.headless.ports.permissions.rules).toMatchObject([{ rule: 'tool:edit_file' }]);
    await writeFile(menu, 'Tea\n');
    await chat.type('Again.');
    await shows('* edit_file: done');
    await shows('[ready]');
    expect(await readFile(menu, 'utf8')).toBe('Cocoa\n');
    // Asked once, and each answer is printed once.
    expect(screen().split('! edit_file')).toHaveLength(2);
    expect(screen().split('All done.')).toHaveLength(3);
  });

  test('a rejected call is not run; an answer is interrupted, and a stopped turn ends', async () => {
    const slow = { text: ['I am', ' thinking'], hang: true };
    const write = call('w', 'write_file', { path: 'new.txt', content: 'x' });
    const { chat, shows, world } = await open(kind, write, slow, slow);
    await chat.show();
    await chat.type('Write.');
    await shows('! write_file');
    await chat.type('/interrupt Too late.');
    await shows('waiting for your answer');
    await chat.type('/reject not there');
    await shows('* write_file: rejected');
    await shows('I am thinking');
    await chat.type('/interrupt Stop thinking.');
    await shows('> Stop thinking.');
    await shows('I am thinking');
    await chat.type('/stop');
    await shows('[ready]');
    expect(existsSync(join(world.headless.folder, 'new.txt'))).toBe(false);
    await chat.type('/approve');
    await shows('Nothing waits for approval.');
    await chat.type('/help');
    await shows('/interrupt TEXT');
  });

  test('a conversation that is shown later has its history, its growing answer and what it asks', async () => {
    const ask = call('q', 'ask_user', { question: 'Milk?', options: ['Yes', 'No'] });
    const { chat, shows, world } = await open(kind, end, ask, end);
    const id = await world.conversation();
    await world.turn(id, 'Earlier.');
    const turn = world.turn(id, 'Ask.');
    await expect.poll(() => world.frontends.requests.all).toHaveLength(1);
    await chat.show(id);
    await shows('> Earlier.');
    await shows('All done.');
    await shows('> Ask.');
    await shows('? Milk? Yes | No');
    await chat.type('/answer Yes');
    await turn;
    await shows('[answered by');
    await shows('All done.');
    await chat.show('missing');
    await shows('is not the id of a conversation');
  });
});
