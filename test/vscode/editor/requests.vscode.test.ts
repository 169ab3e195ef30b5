// The shown request in the real editor: comments around the body that went out, the comparison of a file with now, the bug
// report, and what is said of things that are no longer stored.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { type Snapshots } from '../../../src/core/ports/storage.ts';
import { type Tool } from '../../../src/core/ports/ports.ts';
import { createFindTools } from '../../../src/mcp/tools/findTools.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { createFileTools } from '../../../src/tools/files/fileTools.ts';
import { COMMANDS, REQUEST_SCHEME } from '../../../src/vscode/ids.ts';
import { RequestDocuments } from '../../../src/vscode/requests/requestDocuments.ts';
import { createWorkspace } from '../../../src/vscode/workspace/editorWorkspace.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { cleanUpAfterEach, folder, onDisk, put } from '../../support/vscode/editing.ts';
import { checkLeaks } from '../../support/vscode/startedExtension.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

const SNAPSHOTS = 'earshot-test-snapshot';
const TOKEN = `ghp_${'a1B2'.repeat(9)}`;
const HOSTILE = 'switched\r\nto // "x" \u2028 and\u2029back';

const serverTools = Array.from(
  { length: 31 },
  (_, index): Tool => ({
    description: {
      name: `s__t${index}`,
      description: `t${index} ${'x'.repeat(1000)}`,
      parameters: { type: 'object', properties: {} },
    },
    effect: 'read',
    emits: [],
    traits: { server: 's' },
    parse: (value) => ({ ok: true, value }),
    run: async () => ({ content: 'Ran.', isError: false }),
  }),
);
const finder = createFindTools(() => serverTools.map(({ description }) => ({ server: 's', description })));

describe('the request as the model saw it', function () {
  checkLeaks('once');
  cleanUpAfterEach();
  this.timeout(120_000);
  const workspace = createWorkspace();
  const messages: string[] = [];
  const held: { dispose(): void }[] = [];
  let server: ScriptedServer;
  let headless: Headless;
  let documents: RequestDocuments;
  let shown: string | undefined;
  /** Snapshots that are gone. */
  let isGone: (hash: string) => boolean = () => false;

  before(async () => {
    server = await startScriptedServer();
    headless = await startHeadless({
      model: createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => 'sk-secret-key-of-the-user' }),
      settings: { 'approvals.mode': 'all' },
      ports: { workspace, producers: [], tools: [...createFileTools(), finder, ...serverTools] },
    });
    const { store, snapshots } = headless.ports;
    const remembering: Snapshots = {
      put: (bytes) => snapshots.put(bytes),
      hash: (bytes) => snapshots.hash(bytes),
      get: async (hash) => (isGone(hash) ? undefined : snapshots.get(hash)),
    };
    documents = new RequestDocuments({
      ...{ store, workspace, version: '9.8.7', snapshots: remembering, shown: () => shown },
      contentOf: (path, hash) => vscode.Uri.from({ scheme: SNAPSHOTS, path: `/${path}`, query: hash }),
    });
    const provideTextDocumentContent = async ({ query }: vscode.Uri) =>
      Buffer.from((await snapshots.get(query)) ?? []).toString();
    held.push(
      documents,
      vscode.workspace.registerTextDocumentContentProvider(SNAPSHOTS, { provideTextDocumentContent }),
    );
    // A person's part.
    const window = vscode.window as { showInformationMessage: unknown; showQuickPick: unknown };
    const { showInformationMessage, showQuickPick } = window;
    window.showInformationMessage = async (text: string) => void messages.push(text);
    window.showQuickPick = async (items: readonly unknown[]) => items[0];
    held.push({ dispose: () => Object.assign(window, { showInformationMessage, showQuickPick }) });
  });
  after(async () => {
    for (const one of held) one.dispose();
    await headless.end();
    await server.stop();
    assert.deepEqual(headless.errors, []);
  });
  beforeEach(async () => {
    isGone = () => false;
    messages.length = 0;
    const opened = await headless.earshot.create();
    assert.ok(opened.ok);
    shown = opened.value.log.id;
  });
  afterEach(() => headless.earshot.close(shown ?? ''));

  const log = () => {
    const live = headless.earshot.get(shown ?? '');
    assert.ok(live);
    return live.log;
  };

  /** A turn in which a file is read and a tool is found, with a notification at its beginning. */
  async function turn(): Promise<string> {
    const path = await put('tea.txt', 'sencha\n');
    const calls = [
      { calls: [{ id: 'r', name: 'read_file', arguments: { path } }] },
      { calls: [{ id: 'f', name: 'find_tools', arguments: { query: 't30' } }] },
      { text: ['There is sencha.'] },
    ];
    server.restart(...calls);
    const at = new Date().toISOString();
    const kind = { source: 'git', name: 'head_changed' };
    const draft = {
      kind,
      level: 'warning',
      message: HOSTILE,
      subject: `git:${HOSTILE}`,
      origin: 'filesystem',
    } as const;
    await headless.earshot.publish({ ...draft, at }, log().id);
    const sent = await headless.earshot.send(log().id, `Which tea is there? ${TOKEN}\n// no comment\n${onDisk('x')}`);
    assert.ok(sent.ok);
    await headless.earshot.settled(log().id);
    return path;
  }

  async function open(item?: string): Promise<string> {
    await documents.commands[COMMANDS.showRequest](item);
    const editor = vscode.window.activeTextEditor;
    assert.equal(editor?.document.uri.scheme, REQUEST_SCHEME);
    return editor.document.getText();
  }

  const isOfTurn = (line: string) => line.includes('"type":"model_call"') && !line.includes('"purpose"');
  const withoutComments = (text: string) =>
    text
      .split('\n')
      .filter((line) => !/^\s*\/\//.test(line))
      .join('\n');

  it('is the body that went out once its comments are removed, with keys masked, receipts and tokens', async () => {
    const path = await turn();
    const text = await open();
    const { key } = log().state.turn;
    const body = server.requests.at(-1)?.body ?? '';
    assert.ok(body.includes(key));
    assert.deepEqual(JSON.parse(withoutComments(text)), JSON.parse(body.replaceAll(key, '•••')));
    assert.ok(!text.includes(key) && !text.includes('sk-secret-key-of-the-user'));
    const comments = text.split('\n').filter((line) => line.startsWith('//'));
    assert.match(
      comments.join('\n'),
      /^\/\/ Request 3 of 3\n.* · m · succeeded\n\/\/ POST http.*\/chat\/completions\n/,
    );
    assert.match(text, new RegExp(`// ${Buffer.byteLength(body).toLocaleString()} bytes, as it was sent`));
    assert.ok(comments.includes('// No notifications were new in this request.'));
    assert.ok(comments.some((line) => line.startsWith(`//   ${path} · all of it · `)));
    // A line for each message and tool, with its role or name and its tokens.
    const { messages: sent, tools } = JSON.parse(body) as { messages: unknown[]; tools: unknown[] };
    const counted = text.split('\n').filter((line) => /^ {4}\/\/ \d+ · .* · ≈ [\d,]+ tokens$/.test(line));
    assert.equal(counted.length, sent.length + tools.length);
    assert.ok(counted.some((line) => /· function · read_file|· read_file ·/.test(line)));

    // The request before it carried the notification; its text from outside stays in one line of the comments.
    await documents.commands[COMMANDS.showRequest]('r');
    const first = vscode.window.activeTextEditor?.document.getText() ?? '';
    assert.match(first, /^\/\/ Request 1 of 3/);
    const receipts = first.split('\n').filter((line) => line.includes('git.head_changed [warning]'));
    assert.equal(receipts.length, 1);
    assert.match(receipts[0] ?? '', /^\/\/ {3}.*switched\\r\\nto .* · shown, accepted$/);
    assert.ok(!/[\r\u2028\u2029]/.test(receipts[0] ?? ''));
  });

  it('says what is no longer stored, and that it is not exactly what was sent', async () => {
    await turn();
    const { frozen, found } = log().state.prefix;
    isGone = (hash) => found.has('s__t30') && hash === found.get('s__t30');
    const withoutTool = await open();
    assert.match(withoutTool, /NOT exactly as it was sent: a part of the log or of its files is gone/);
    assert.match(withoutTool, /Descriptions of found tools are no longer stored\./);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    isGone = (hash) => hash === frozen?.system;
    const uri = (seq: number) =>
      vscode.Uri.from({
        scheme: REQUEST_SCHEME,
        path: '/x.jsonc',
        query: JSON.stringify({ conversation: shown, seq }),
      });
    const call = (await headless.events(log().id)).split('\n').findLast(isOfTurn);
    const { seq } = JSON.parse(call ?? '{}') as { seq: number };
    const withoutPrompt = await documents.provideTextDocumentContent(uri(seq));
    assert.match(withoutPrompt, /The system prompt and the tools are no longer stored\./);
    assert.ok(JSON.parse(withoutComments(withoutPrompt)));
    assert.match(
      await documents.provideTextDocumentContent(uri(99_999)),
      /^\/\/ This request is not in the log any more/,
    );
    await documents.commands[COMMANDS.showRequest]('no such item');
    assert.deepEqual(messages, ['This request is not in the log any more.']);
  });

  it('says that nothing was sent yet', async () => {
    await documents.commands[COMMANDS.showRequest](undefined);
    assert.deepEqual(messages, ['Nothing was sent to a model in this conversation yet.']);
  });

  it('compares a file as the model knew it with now, and says if that version is gone', async () => {
    const path = await turn();
    await put('tea.txt', 'gyokuro\n');
    await open();
    await documents.commands[COMMANDS.compareKnownFile]();
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    assert.ok(input instanceof vscode.TabInputTextDiff);
    const [before, now] = await Promise.all(
      [input.original, input.modified].map(async (uri) => (await vscode.workspace.openTextDocument(uri)).getText()),
    );
    assert.deepEqual([before, now], ['sencha\n', 'gyokuro\n']);
    assert.equal(input.modified.fsPath, onDisk('tea.txt'));
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await open();
    isGone = (hash) => hash === log().state.seen.get(path)?.hash;
    await documents.commands[COMMANDS.compareKnownFile]();
    assert.deepEqual(messages, ['The version that the model has read is no longer stored.']);
  });

  it('is copied as a bug report with versions and the log around it, without secrets and absolute paths', async () => {
    await turn();
    await open();
    await documents.commands[COMMANDS.copyBugReport]();
    const report = await vscode.env.clipboard.readText();
    assert.match(report, /^# Earshot: bug report\n\n- Earshot 9\.8\.7\n- \d/);
    assert.match(report, /- Request 3 of 3\n/);
    assert.ok(report.includes('"type":"model_call"'));
    assert.ok(!report.includes(TOKEN) && !report.includes(log().state.turn.key));
    const root = workspace.folders[0]?.absolute ?? '/';
    assert.ok(!report.includes(root));
    assert.ok(report.includes(`./${folder}/x`));
    assert.match(messages.at(-1) ?? '', /^The bug report is in the clipboard\./);
  });
});
