// The tool symbols with the real TypeScript server: definitions, references, outline, and a rename that keeps unsaved
// work.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { effectOf } from '../../../src/core/consent/approvalPolicy.ts';
import { type ToolContext } from '../../../src/core/ports/ports.ts';
import { type Workspace } from '../../../src/core/ports/workspace.ts';
import { createSymbolsTool } from '../../../src/tools/language/symbols.ts';
import { createLanguages } from '../../../src/vscode/language/languages.ts';
import { createWorkspace } from '../../../src/vscode/workspace/editorWorkspace.ts';
import { cleanUpAfterEach, diskText, folder, onDisk, put, typeInto } from '../../support/vscode/editing.ts';
import { checkLeaks, eventually } from '../../support/vscode/startedExtension.ts';

describe('symbols', () => {
  checkLeaks('once');
  cleanUpAfterEach();
  const tool = createSymbolsTool(createLanguages());
  const workspace: Workspace = createWorkspace();

  function ask(args: Readonly<Record<string, unknown>>, hides: (path: string) => boolean = () => false) {
    const parsed = tool.parse(args);
    assert.ok(parsed.ok, JSON.stringify(parsed));
    const { signal } = new AbortController();
    const context = { signal, workspace, hides, seen: async () => undefined } as unknown as ToolContext;
    return tool.run(parsed.value, context);
  }

  beforeEach(async () => {
    await put('cup.ts', 'export function fill(cup: string): string {\n  return `full ${cup}`;\n}\n');
    await put(
      'user.ts',
      "import { fill } from './cup.ts';\n\n// fill is called twice\nexport const two = fill('a') + fill('b');\n",
    );
    // Without a project, the server uses only open files, and while it starts it answers from a single file.
    await vscode.workspace.openTextDocument(vscode.Uri.file(onDisk('user.ts')));
    await eventually(
      () => ask({ action: 'references', path: `${folder}/cup.ts`, symbol: 'fill' }),
      ({ content }) => content.includes('user.ts'),
    );
  });

  it('finds the definition, the references and the outline', async () => {
    const [cup, user] = [`${folder}/cup.ts`, `${folder}/user.ts`];
    const definition = await ask({ action: 'definition', path: user, symbol: 'fill', line: 4 });
    assert.equal(definition.content, `fill: 1 definition:\n${cup}\n  1: export function fill(cup: string): string {`);
    const references = await ask({ action: 'references', path: cup, symbol: 'fill' });
    assert.match(references.content, /^fill is used in 4 places:\n/);
    assert.ok(references.content.includes(`${user}\n  1: import { fill } from './cup.ts';\n  4: export const two`));
    const outline = await ask({ action: 'outline', path: user });
    assert.match(outline.content, /^4: (constant|variable) two$/m);
    const found = await ask({ action: 'find', symbol: 'fill' });
    assert.ok(found.content.includes(`${cup}:1: function fill`), found.content);
  });

  it('renames in all files at once, keeps unsaved changes, and lists what it changed', async () => {
    // The editor may have saved the file meanwhile; the typed text must be kept in either case.
    await typeInto('user.ts', (text) => `${text}// mine\n`);
    const outcome = await ask({
      action: 'rename',
      path: `${folder}/cup.ts`,
      symbol: 'fill',
      line: 1,
      new_name: 'pour',
    });
    assert.equal(outcome.isError, false, outcome.content);
    assert.match(outcome.content, /^Renamed fill to pour: 4 places in 2 files\.\n/);
    assert.equal(await diskText('cup.ts'), 'export function pour(cup: string): string {\n  return `full ${cup}`;\n}\n');
    const user = await workspace.resolve(`${folder}/user.ts`);
    assert.ok(user.ok);
    const content = await workspace.read(user.value);
    assert.ok(content.ok);
    const text = new TextDecoder().decode(content.value.bytes);
    assert.match(text, /import \{ pour \}[^]*pour\('a'\) \+ pour\('b'\);\n\/\/ mine\n$/);
    assert.deepEqual(outcome.changes?.map(({ file }) => file.path).sort(), [`${folder}/cup.ts`, `${folder}/user.ts`]);
  });

  it('changes nothing if a file that uses the name is read-only, or the new name is invalid', async () => {
    const before = await diskText('cup.ts');
    const rename = { action: 'rename', path: `${folder}/cup.ts`, symbol: 'fill', line: 1, new_name: 'pour' };
    const hidden = await ask(rename, (path) => path.endsWith('user.ts'));
    assert.match(
      hidden.content,
      /^fill was not renamed: it also occurs in .*user\.ts, which may not be changed without asking\. Nothing was changed\.$/,
    );
    const wrong = await ask({ ...rename, symbol: 'nothing' });
    assert.match(
      wrong.content,
      /^symbol: nothing does not occur in line 1 of .*cup\.ts, which is: export function fill/,
    );
    const word = await ask({ ...rename, symbol: 'full', line: 2 });
    assert.equal(word.isError, true, word.content);
    const vague = await ask({ action: 'rename', path: `${folder}/cup.ts`, symbol: 'fill', new_name: 'pour' });
    assert.equal(vague.content, 'line: rename needs it. Call it again with it.');
    assert.equal(await diskText('cup.ts'), before);
  });

  it('is an edit only when it renames', () => {
    assert.deepEqual(
      ['rename', 'references'].map((action) => effectOf(tool, { action })),
      ['edit', 'read'],
    );
  });
});
