// Every command can be reached without the palette in at most two clicks: from a menu, a title bar, or a control of the
// chat.
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { menus } from '../../src/vscode/contributions/commands.ts';
import { CHAT_VIEW, COMMANDS, type CommandId } from '../../src/vscode/ids.ts';

const root = resolve(import.meta.dirname, '../..');

/** Commands by their menus: one click opens the menu, the second chooses; an icon needs only one. */
const inMenus = new Map<string, string[]>();
for (const [menu, items] of Object.entries(menus)) {
  if (menu === 'commandPalette') continue;
  for (const { command, when } of items) inMenus.set(command, [...(inMenus.get(command) ?? []), `${menu} ${when}`]);
}

/** Commands without a menu, and the message of the page that does the same. */
const ON_PAGE: Partial<Record<CommandId, string>> = {
  [COMMANDS.stop]: 'stop',
  [COMMANDS.approve]: 'approve',
  [COMMANDS.showRules]: 'show_rules',
  [COMMANDS.openConversation]: 'open_conversation',
  [COMMANDS.openWaiting]: 'open_conversation',
  [COMMANDS.keepChanges]: 'keep',
  [COMMANDS.undoChanges]: 'undo',
  [COMMANDS.tour]: 'queue',
  [COMMANDS.showRequest]: 'show_request',
};

/** Commands that VS Code itself offers. */
const ELSEWHERE: Partial<Record<CommandId, string>> = {
  [COMMANDS.openChat]: 'the icon of the view',
};

const page = readdirSync(resolve(root, 'src/webview'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.tsx'))
  .map((file) => readFileSync(resolve(root, 'src/webview', file), 'utf8'))
  .join('\n');

test.each(Object.values(COMMANDS))('%s can be reached in at most two clicks', (command) => {
  const message = ON_PAGE[command];
  if (message !== undefined) expect(page).toContain(`type: '${message}'`);
  expect([inMenus.get(command) ?? [], message, ELSEWHERE[command]].flat().filter(Boolean)).not.toEqual([]);
});

test('the commands listed in SPEC 7 are in the title bar of the chat, its menu, or the menu of their object', () => {
  const inChat: readonly CommandId[] = [
    ...[COMMANDS.newChat, COMMANDS.showNotifications, COMMANDS.deliverNow, COMMANDS.clearNotifications],
    ...[COMMANDS.muteKind, COMMANDS.chooseModel, COMMANDS.setApiKey, COMMANDS.forkConversation],
    ...[COMMANDS.exportConversation, COMMANDS.openWebChat, COMMANDS.showLog, COMMANDS.openWalkthrough],
  ];
  const missing = inChat.filter((one) => !(inMenus.get(one) ?? []).includes(`view/title view == ${CHAT_VIEW}`));
  expect(missing).toEqual([]);
  const places: [CommandId, string][] = [
    [COMMANDS.sendSelection, 'editor/context editorHasSelection'],
    [COMMANDS.explainProblem, 'editor/context editorTextFocus'],
    [COMMANDS.fixProblem, 'editor/context editorTextFocus'],
    [COMMANDS.attachFile, 'explorer/context !explorerResourceIsFolder'],
    [COMMANDS.attachTerminal, 'terminal/context terminalIsOpen'],
    [COMMANDS.commitMessage, 'scm/title scmProvider == git'],
  ];
  for (const [command, place] of places) expect(inMenus.get(command)).toContain(place);
});
