// Who may read files of the workspace, and how: everything that can reach the model goes through the door (core/consent/door.ts).
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const source = join(resolve(import.meta.dirname, '../..'), 'src');

/** Each way to a file's content, and the only files that may go it. */
const READERS: Readonly<Record<string, readonly string[]>> = {
  // Below the door.
  readJudged: ['core/consent/door.ts', 'vscode/workspace/editorWorkspace.ts'],
  listUnjudged: ['core/consent/door.ts'],
  WorkspaceDisk: ['core/consent/door.ts', 'vscode/workspace/editorWorkspace.ts'],
  // What a person allowed one call. The delegate only forwards.
  admitting: ['core/consent/ignoreFile.ts', 'core/consent/delegateWorkspace.ts'],
  viewFor: ['core/tools/run.ts'],
  // What stays on this machine: undo, review, rules that are only compared with names.
  readLocally: [
    'core/consent/door.ts',
    'core/consent/ignoreFile.ts',
    'core/consent/delegateWorkspace.ts',
    'core/checkpoints/captures.ts',
    'core/checkpoints/putBack.ts',
    'producers/files/exclusions.ts',
    'vscode/review/reviewContent.ts',
  ],
  readBeneath: ['core/checkpoints/putBack.ts', 'vscode/review/reviewBuffers.ts'],
  // The editor's own way: virtual file systems, and bytes that a change starts from or leaves.
  'fs.readFile': [
    'vscode/workspace/editorWorkspace.ts',
    'vscode/workspace/fileEdits.ts',
    'vscode/workspace/fileSteps.ts',
    'vscode/workspace/bufferEdits.ts',
    'vscode/review/reviewBuffers.ts',
  ],
  // For language servers and editors; what they say of a file is asked for at the door.
  openTextDocument: [
    'vscode/language/languages.ts',
    'vscode/language/quickFixes.ts',
    'vscode/workspace/fileSteps.ts',
    'vscode/chat/conversationCommands.ts',
    'vscode/sources/diagnostics.ts',
  ],
};

/** Of these layers, only git's own folder and the rights of files are looked at past the door. */
const NODE_FILES: readonly string[] = [
  'producers/git/gitRepository.ts',
  'producers/git/gitState.ts',
  'vscode/workspace/fileRights.ts',
  'vscode/workspace/ripgrep.ts',
];
const HELD = /^(core|models|producers|tools|vscode)\//;

interface Use {
  readonly file: string;
  readonly what: string;
}

function usesIn(file: string, text: string): Use[] {
  const found: Use[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const called = node.expression;
      const name = ts.isPropertyAccessExpression(called) ? called.name.text : called.getText();
      const owner = ts.isPropertyAccessExpression(called) ? called.expression.getText() : '';
      if (Object.hasOwn(READERS, name)) found.push({ file, what: name });
      if (name === 'readFile' && /(^|\.)fs$/.test(owner)) found.push({ file, what: 'fs.readFile' });
    }
    if (ts.isTypeReferenceNode(node) && Object.hasOwn(READERS, node.typeName.getText()))
      found.push({ file, what: node.typeName.getText() });
    if (ts.isImportDeclaration(node) && HELD.test(file) && /^["']node:fs/.test(node.moduleSpecifier.getText()))
      found.push({ file, what: 'node:fs' });
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}

function isAllowed({ file, what }: Use): boolean {
  return (what === 'node:fs' ? NODE_FILES : (READERS[what] ?? [])).includes(file);
}

const uses = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .flatMap((file) => {
    const name = relative(source, join(source, file)).replaceAll('\\', '/');
    return usesIn(name, readFileSync(join(source, file), 'utf8'));
  });

test('every read of a workspace file goes through the door', () => {
  expect(uses.filter((use) => !isAllowed(use))).toEqual([]);
});

test('the table names no file that does not need it', () => {
  const idle = Object.entries(READERS).flatMap(([what, files]) =>
    files
      .filter((file) => !uses.some((use) => use.what === what && use.file === file))
      .map((file) => `${what} ${file}`),
  );
  expect(idle).toEqual([]);
});

test.each([
  ['producers/x.ts', 'await workspace.readLocally(file)'],
  ['core/agent/x.ts', 'await this.#disk.readJudged(file, () => undefined)'],
  ['tools/x.ts', "import { readFile } from 'node:fs/promises';"],
  ['vscode/x.ts', 'await vscode.workspace.fs.readFile(uri)'],
  ['vscode/x.ts', 'await vscode.workspace.openTextDocument(uri)'],
  ['producers/x.ts', 'workspace.admitting(consent)'],
])('%s is kept from: %s', (file, text) => {
  expect(usesIn(file, text).filter((use) => !isAllowed(use))).toHaveLength(1);
});
