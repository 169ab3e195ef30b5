// Core refers to no tool by its name: tools declare what core must know of them (core/ports/toolTraits.ts).
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { KINDS } from '../../src/protocol/kinds.ts';
import { shippedTools } from '../support/shippedTools.ts';

const core = resolve(import.meta.dirname, '../../src/core');
/** Names of notification sources; `diagnostics` is also a tool. */
const sources = new Set(Object.keys(KINDS).map((kind) => kind.split('.')[0]));

/** Names of fields: `'handle' in atom`, `AtomOf<'handle'>`. */
function isFieldName(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isBinaryExpression(parent)) return parent.operatorToken.kind === ts.SyntaxKind.InKeyword;
  return ts.isLiteralTypeNode(parent) && ts.isTypeReferenceNode(parent.parent);
}

/** The texts of a file's string literals and templates that are no names of fields. */
function textsIn(file: string, source: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      if (!isFieldName(node)) found.push(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true));
  return found;
}

/** A one-word name that is used as the name of a tool: `handle fetch has its output`, `diagnostics lists them`. */
const USED_AS_TOOL = /(?:^|[.:;(,] ?|\n)(\w+) (?:list|lists|fetch|apply|abort|any|all|has|shows|answers|one of)\b/g;

/**
 * A name of several words is found anywhere in a text; a name that is a plain word, such as search, as the whole text or
 * where it is used as a name.
 */
function namesIn(text: string): readonly string[] {
  const asTool = [...text.matchAll(USED_AS_TOOL)].map(([, name]) => name);
  return shippedTools.names.filter((name) => {
    if (name.includes('_')) return text.split(/\W+/).includes(name);
    // As a whole text, `diagnostics` is the source of notifications.
    return asTool.includes(name) || (text === name && !sources.has(name));
  });
}

test('no string of core contains the name of a shipped tool', () => {
  const files = readdirSync(core, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const found = files.flatMap((file) => {
    const texts = textsIn(file, readFileSync(join(core, file), 'utf8'));
    return texts.flatMap(namesIn).map((name) => `${relative(core, join(core, file))}: ${name}`);
  });
  expect(files.length).toBeGreaterThan(50);
  expect(found).toEqual([]);
});

test.each([
  ["const tool = 'run_command';", ['run_command']],
  ["event.name === 'todo'", ['todo']],
  ["'handle' in atom; type One = AtomOf<'handle'>;", []],
  ['`${text} (read_file has the rest)`', ['read_file']],
  ["'the list of what is to do: a todo'; { source: 'diagnostics' }", []],
  ["'and 3 more: diagnostics lists them.'", ['diagnostics']],
  ["'It was ended. handle fetch has its output.'", ['handle']],
  ["'20 run already. await one of them.'", ['await']],
])('in %s the names %j are found', (source, expected) => {
  expect(textsIn('x.ts', source).flatMap(namesIn)).toEqual(expected);
});

test('all 27 shipped tools are searched for', () => {
  expect(shippedTools.names).toHaveLength(27);
});
