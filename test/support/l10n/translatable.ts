// Finds every UI string that is translated: arguments of `t` and `l10n.t`, and values of tables that are translated
// when shown.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { KINDS } from '../../../src/protocol/kinds.ts';
import { coreTexts, valueTexts } from './coreTexts.ts';

const source = resolve(import.meta.dirname, '../../../src');
const FOLDERS = ['webview', 'vscode', 'core/frontend/page'];
/** The string values in these tables are keys of translations. */
const TABLES = [
  'base/failureTexts.ts',
  'base/toolLabels.ts',
  'protocol/kindLabels.ts',
  'core/conversation/failureActions.ts',
  'core/frontend/suggestions.ts',
  'vscode/notifications/notificationTexts.ts',
  'vscode/mcp/serversView.ts',
];

/** The mute menu shows them. */
const kindTexts = Object.values(KINDS).map(({ description }) => description);

export function translatableTexts(): string[] {
  const found = new Set<string>();
  for (const folder of FOLDERS) {
    const files = readdirSync(join(source, folder), { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => /\.tsx?$/.test(name))) collect(join(source, folder, file), found, false);
  }
  for (const table of TABLES) collect(join(source, table), found, true);
  for (const text of [...coreTexts(), ...valueTexts, ...kindTexts]) found.add(text);
  return [...found].sort();
}

function collect(file: string, found: Set<string>, table: boolean): void {
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^(.+\.)?t$/.test(node.expression.getText())) {
      const [first] = node.arguments;
      if (first !== undefined && ts.isStringLiteralLike(first)) found.add(first.text);
    }
    if (
      table &&
      ts.isPropertyAssignment(node) &&
      ts.isStringLiteral(node.initializer) &&
      /^[A-Z]/.test(node.initializer.text)
    )
      found.add(node.initializer.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true));
}
