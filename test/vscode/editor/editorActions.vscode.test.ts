// Actions of the chat in the editor, and of the editor's menus in the chat: code blocks, lightbulb, Explorer, CodeLens,
// commit message.
import * as assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import { insertCode, Proposals, runInTerminal } from '../../../src/vscode/chat/codeActions.ts';
import { gitRepositories } from '../../../src/vscode/completions/gitChanges.ts';
import { call, inFolder, useListening } from '../../support/vscode/listeningConversation.ts';
import { checkLeaks, eventually } from '../../support/vscode/startedExtension.ts';

describe('actions between chat and editor', () => {
  // Registered before the leak check, so that everything is closed when it runs.
  const listening = useListening();
  checkLeaks('once');
  const menu = () => vscode.Uri.file(inFolder('src/menu.ts'));
  const show = () => vscode.window.showTextDocument(menu(), { preview: false });
  /** The body of the last request to the model. */
  const lastRequest = () => listening.server.requests.at(-1)?.body ?? '';

  /** Opens a new chat, calls `send`, which sends a message there, and waits for the last request of the turn. */
  async function turnOf(
    send: () => Thenable<unknown>,
    ...answers: Parameters<typeof listening.server.restart>
  ): Promise<void> {
    const count = listening.server.requests.length;
    listening.server.restart(...answers, { text: ['Done.'] });
    await vscode.commands.executeCommand('earshot.newChat');
    await send();
    await eventually(
      () => listening.server.requests.length,
      (now) => now === count + answers.length + 1,
    );
  }

  it('a code block is inserted at the cursor, in place of the selection', async () => {
    const editor = await show();
    editor.selection = new vscode.Selection(0, 0, 0, 6);
    const rest = editor.document.lineAt(0).text.slice(6);
    await insertCode('const inserted = 1;', () => undefined);
    assert.equal(editor.document.lineAt(0).text, `const inserted = 1;${rest}`);
    await vscode.commands.executeCommand('workbench.action.files.revert');
  });

  it('a code block with one function of a file of 18 lines replaces that function and keeps the other lines', async () => {
    const before = [
      ...['/** A cart of items. */', 'export function createCart() {', '  return { items: [] };', '}', ''],
      ...['export function addItem(cart, item) {', '  cart.items.push(item);', '  return cart;', '}', ''],
      ...[
        'export function removeItem(cart, name) {',
        '  cart.items = cart.items.filter((item) => item.name !== name);',
      ],
      ...['  return cart;', '}', '', 'export function total(cart) {'],
      ...['  return cart.items.reduce((sum, item) => sum + item.price, 0);', '}', ''],
    ].join('\n');
    const path = inFolder('cart.js');
    await writeFile(path, before);
    const notices: string[] = [];
    const store = async (_name: string, content: string) => {
      await writeFile(inFolder('proposed.js'), content);
      return vscode.Uri.file(inFolder('proposed.js'));
    };
    const proposals = new Proposals(store, (text) => notices.push(text));
    /** Resolves to the file's text with the code applied from its preview. */
    const applied = async (code: string, line: number) => {
      await writeFile(path, before);
      const editor = await vscode.window.showTextDocument(vscode.Uri.file(path), { preview: false });
      await vscode.commands.executeCommand('workbench.action.files.revert');
      editor.selection = new vscode.Selection(line, 0, line, 0);
      await proposals.show(code);
      const preview = await readFile(inFolder('proposed.js'), 'utf8');
      await eventually(
        () => vscode.window.tabGroups.activeTabGroup.activeTab?.input,
        (input) => input instanceof vscode.TabInputTextDiff,
      );
      await proposals.apply();
      assert.equal(editor.document.getText(), preview);
      await vscode.commands.executeCommand('workbench.action.files.revert');
      return preview;
    };
    const sum = '  return cart.items.reduce((sum, item) => sum + item.price * item.count, 0);';
    const after = before.replace('item.price, 0', 'item.price * item.count, 0');
    assert.equal(await applied(`export function total(cart) {\n${sum}\n}`, 0), after);
    assert.equal(
      await applied('console.info("Loaded.");', 4),
      before.replace('\n\n', '\nconsole.info("Loaded.");\n\n'),
    );
    assert.deepEqual(
      notices.map((text) => text.split('.')[0]),
      ['The place for this code was not found in cart'],
    );
    assert.equal(await applied(after.trimEnd(), 0), after);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('a command runs in its own terminal, not in a busy one', async () => {
    const busy = vscode.window.createTerminal('busy');
    busy.show(true);
    const before = new Set(vscode.window.terminals);
    runInTerminal(`echo from-chat > ${inFolder('said.txt')}\n`);
    const read = () => readFile(inFolder('said.txt'), 'utf8').catch(() => '');
    assert.equal(await eventually(read, (text) => text !== ''), 'from-chat\n');
    const added = vscode.window.terminals.filter((one) => !before.has(one));
    assert.deepEqual(
      added.map(({ name }) => name),
      ['Earshot'],
    );
    for (const terminal of [busy, ...added]) terminal.dispose();
  });

  it('the lightbulb and the menu of a problem explain and fix it', async () => {
    await show();
    const problems = vscode.languages.createDiagnosticCollection('tea');
    const range = new vscode.Range(0, 0, 0, 3);
    problems.set(menu(), [new vscode.Diagnostic(range, 'The tea is cold.')]);
    const offered = await eventually(
      async () =>
        vscode.commands.executeCommand<vscode.CodeAction[]>('vscode.executeCodeActionProvider', menu(), range),
      (actions) => actions.some(({ title }) => title === 'Fix with Earshot'),
    );
    for (const title of ['Fix with Earshot', 'Explain with Earshot']) {
      const { command, arguments: args = [] } = offered.find((one) => one.title === title)?.command ?? {
        command: '',
      };
      await turnOf(() => vscode.commands.executeCommand(command, ...(args as unknown[])));
      assert.match(lastRequest(), /(Fix|Explain) this problem:\\nsrc\/menu\.ts:1:1: error: The tea is cold\./);
    }
    // From the context menu: explains and fixes the problem at the cursor.
    const editor = await show();
    editor.selection = new vscode.Selection(0, 1, 0, 1);
    await turnOf(() => vscode.commands.executeCommand('earshot.fixProblem'));
    assert.match(lastRequest(), /src\/menu\.ts:1:1: error: The tea is cold\./);
    problems.dispose();
  });

  it('a file of the Explorer and the selection of the editor go with the next message', async () => {
    await vscode.commands.executeCommand('earshot.newChat');
    await vscode.commands.executeCommand('earshot.attachFile', vscode.Uri.file(inFolder('README.md')), [
      vscode.Uri.file(inFolder('README.md')),
      vscode.Uri.file(inFolder('src/order.ts')),
    ]);
    await vscode.commands.executeCommand('earshot.attachFolder', vscode.Uri.file(inFolder('src')));
    const editor = await show();
    editor.selection = new vscode.Selection(0, 0, 1, 0);
    await vscode.commands.executeCommand('earshot.sendSelection');
    listening.server.restart({ text: ['Done.'] });
    const count = listening.server.requests.length;
    await vscode.commands.executeCommand('earshot.explainProblem', 'What is this?');
    await eventually(
      () => listening.server.requests.length,
      (now) => now === count + 1,
    );
    for (const part of ['README.md', 'src/order.ts', 'Files in src', 'Selection: src/menu.ts:1-2', 'What is this?']) {
      assert.ok(lastRequest().includes(part), part);
    }
  });

  it('changed parts are kept and undone one by one with the buttons above the code', async () => {
    const before = await readFile(menu().fsPath, 'utf8');
    const lines = before.trimEnd().split('\n');
    const [first = '', last = ''] = [lines[0], lines.at(-1)];
    const path = 'src/menu.ts';
    const edits = [
      { old_text: first, new_text: `// Changed.\n${first}` },
      { old_text: last, new_text: `${last} // Kept.` },
    ];
    await turnOf(
      () => vscode.commands.executeCommand('earshot.fixProblem', 'It has no comment.'),
      call('read_file', { path }),
      call('edit_file', { path, edits }),
    );
    await show();
    const lenses = async () =>
      vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', menu());
    const found = await eventually(lenses, (all) => all.length === 4);
    assert.deepEqual(
      found.map(({ command, range }) => [command?.title, range.start.line]),
      [
        ['$(check) Keep', 0],
        ['$(discard) Undo', 0],
        ['$(check) Keep', lines.length],
        ['$(discard) Undo', lines.length],
      ],
    );
    const click = async (lens: vscode.CodeLens | undefined) => {
      const { command = '', arguments: args = [] } = lens?.command ?? {};
      await vscode.commands.executeCommand(command, ...(args as unknown[]));
    };
    await click(found[2]);
    const left = await eventually(lenses, (all) => all.length === 2);
    assert.deepEqual(
      left.map(({ range }) => range.start.line),
      [0, 0],
    );
    await click(left[1]);
    await eventually(lenses, (all) => all.length === 0);
    const text = await readFile(menu().fsPath, 'utf8');
    assert.equal(text, before.replace(last, `${last} // Kept.`));
    await writeFile(menu().fsPath, before);
  });

  it('a commit message is written into the Source Control view', async () => {
    const [repository] = await eventually(gitRepositories, (all) => all.length > 0);
    assert.ok(repository);
    await writeFile(inFolder('README.md'), 'The shop is open until six.\n');
    listening.server.restart({ text: ['Say when ', 'the shop is open\n'] });
    await vscode.commands.executeCommand('earshot.commitMessage');
    assert.equal(repository.inputBox.value, 'Say when the shop is open');
    assert.match(lastRequest(), /\+The shop is open until six\./);
    repository.inputBox.value = '';
  });
});
