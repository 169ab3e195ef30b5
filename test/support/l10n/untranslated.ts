// Finds prose in the window's code that is shown without translation: sentences outside of `l10n.t`.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';

const source = resolve(import.meta.dirname, '../../../src/vscode');
/** Files whose texts are for the model or the conversation's log, or are translated elsewhere. */
const EXEMPT = /^(contributions|workspace|language|tasks|sources|hub)\/|^models\/languageModel/;

/** The untranslated texts, each with its file. */
export function untranslatedTexts(): string[] {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => name.endsWith('.ts') && !EXEMPT.test(name))
    .sort()
    .flatMap((name) => proseOf(name, readFileSync(join(source, name), 'utf8')));
}

function proseOf(name: string, text: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || isInternal(node)) return;
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
      const literal = ts.isTemplateExpression(node) ? textOfTemplate(node) : node.text;
      if (/^[A-Z][a-z]* \S/.test(literal)) found.push(`${name}: ${literal}`);
      if (!ts.isTemplateExpression(node)) return;
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true));
  return found;
}

function textOfTemplate({ head, templateSpans }: ts.TemplateExpression): string {
  return `${head.text}${templateSpans.map(({ literal }) => `…${literal.text}`).join('')}`;
}

/** True for texts that are translated, logged or thrown. */
function isInternal(node: ts.Node): boolean {
  if (ts.isNewExpression(node)) return node.expression.getText().endsWith('Error');
  if (!ts.isCallExpression(node)) return false;
  return /^(.+\.)?(t|report|error|warn|info|debug)$/.test(node.expression.getText());
}
