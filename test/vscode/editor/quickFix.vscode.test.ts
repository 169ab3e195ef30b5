// The editor's quick fixes for real type errors: listed by problem, applied through the editor, refused if none matches.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { createDiagnosticsProducer } from '../../../src/producers/diagnostics/diagnostics.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { createQuickFixTool } from '../../../src/tools/language/quickFix.ts';
import { createQuickFixes } from '../../../src/vscode/language/quickFixes.ts';
import { DiagnosticsSource } from '../../../src/vscode/sources/diagnostics.ts';
import { createWorkspace } from '../../../src/vscode/workspace/editorWorkspace.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { recordingLogger } from '../../support/recordingLogger.ts';
import { checkLeaks, eventually } from '../../support/vscode/startedExtension.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

const BROKEN = `import { menu } from './menu.ts';

export const price = menu.asam;
export function later() {
  await Promise.resolve();
}
export const empty: Order = { number: 1, lines: [] };
export const wrong: string = 7;
`;

describe('quick fixes', function () {
  checkLeaks('once');
  this.timeout(120_000);
  let server: ScriptedServer;
  let headless: Headless;
  let conversation: string;
  let file: vscode.Uri;
  let problems: DiagnosticsSource;
  let fixes: ReturnType<typeof createQuickFixes>;

  beforeEach(async () => {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    assert.ok(folder);
    file = vscode.Uri.joinPath(folder, 'src', 'broken.ts');
    await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(BROKEN));
    server = await startScriptedServer();
    const workspace = createWorkspace();
    const log = recordingLogger([]);
    problems = new DiagnosticsSource(log);
    const reported = createDiagnosticsProducer({ clock: realClock, logger: log, problems, workspace });
    fixes = createQuickFixes({ clock: realClock, problems, reported });
    headless = await startHeadless({
      model: createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => 'k' }),
      ports: { workspace, problems: reported, producers: [reported], tools: [createQuickFixTool(fixes)] },
    });
    const opened = await headless.earshot.create();
    assert.ok(opened.ok);
    conversation = opened.value.log.id;
  });
  afterEach(async () => {
    await headless.end();
    await server.stop();
    fixes.dispose();
    problems.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.workspace.fs.delete(file);
  });

  let calls = 0;
  async function call(values: object): Promise<Extract<LogEvent, { type: 'tool_call_response' }>> {
    const asked = { id: `c${++calls}`, name: 'quick_fix', arguments: values };
    server.script({ calls: [asked] }, { text: ['Done.'] });
    await headless.earshot.send(conversation, 'Go on.');
    await headless.earshot.settled(conversation);
    const lines = (await headless.events(conversation)).trimEnd().split('\n');
    const events = lines.map((line) => JSON.parse(line) as LogEvent);
    const found = events.findLast((event) => event.type === 'tool_call_response');
    assert.ok(found?.type === 'tool_call_response');
    return found;
  }
  const text = async () => new TextDecoder().decode(await vscode.workspace.fs.readFile(file));

  it('are listed without approval by problem, with the preferred one marked', async () => {
    const { content } = await call({ path: 'src/broken.ts' });
    assert.match(content, /^What the editor offers for src\/broken\.ts:\n/);
    assert.match(content, /line 3: error ts 2551: [^\n]*asam[^]*?\n {2}- Change spelling to 'assam' \(preferred\)/);
    assert.match(content, /line 5: error ts 1308: [^]*?\n {2}- Add async modifier/);
    assert.match(content, /line 7: error ts 2304: [^]*?\n {2}- Add import from "\.\/order/);
    assert.match(content, /line 8: error ts 2322: [^]*?\n {2}\(no fix is offered\)/);
    assert.deepEqual(headless.frontend.asked, []);
    assert.equal(await text(), BROKEN);
  });

  it('are applied after approval, saved, shown as a diff, and reverted by undo', async () => {
    const title = "Change spelling to 'assam'";
    const applied = await call({ path: 'src/broken.ts', line: 3, title });
    assert.equal(await text(), BROKEN.replace('menu.asam', 'menu.assam'));
    assert.match(
      applied.content,
      /^Applied “Change spelling to 'assam'” for line 3 in src\/broken\.ts:\n@@ [^]*\n\+export const price = menu\.assam;/,
    );
    assert.deepEqual(
      applied.changes?.map(({ path }) => path),
      ['src/broken.ts'],
    );
    assert.equal(headless.frontend.asked.length, 1);
    await vscode.window.showTextDocument(file);
    await vscode.commands.executeCommand('undo');
    assert.equal(vscode.window.activeTextEditor?.document.getText(), BROKEN);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  it('that are not offered change nothing, and the result lists the offered ones', async () => {
    // The server reports different kinds of problems one after the other.
    await vscode.window.showTextDocument(file);
    await eventually(
      () => vscode.languages.getDiagnostics(file).map(({ range }) => range.start.line),
      (lines) => lines.includes(2),
    );
    // A later check of the server may clear the problem for a moment.
    const refused = await eventually(
      () => call({ path: 'src/broken.ts', line: 3, title: 'Brew it' }),
      ({ content }) => !content.includes('No problem is reported'),
    );
    assert.equal(refused.is_error, true);
    assert.match(
      refused.content,
      /^title: “Brew it” is not offered\. Nothing was changed\.\nWhat the editor offers for line 3 of src\/broken\.ts:/,
    );
    assert.equal(await text(), BROKEN);
  });
});
