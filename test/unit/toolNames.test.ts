// Core refers to no tool by its name: tools declare what core must know of them (core/ports/toolTraits.ts).
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { KINDS } from '../../src/protocol/kinds.ts';
import { shippedTools } from '../support/shippedTools.ts';

const core = resolve(import.meta.dirname, '../../src/core');
/** Names of notification sources. In core, a tool name that equals one, such as diagnostics, means the source. */
const sources = new Set(Object.keys(KINDS).map((kind) => kind.split('.')[0]));
const names = shippedTools.names.filter((name) => !sources.has(name));

/** The texts of a file's string literals and templates. */
function textsIn(file: string, source: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      found.push(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true));
  return found;
}

/**
 * A name of several words is found anywhere in a text; a name that is a plain word, such as search, only as the whole
 * text.
 */
function namesIn(text: string): readonly string[] {
  return names.filter((name) => (name.includes('_') ? text.split(/\W+/).includes(name) : text === name));
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
  ['`${text} (read_file has the rest)`', ['read_file']],
  ["'the list of what is to do: a todo'; { source: 'diagnostics' }", []],
])('in %s the names %j are found', (source, expected) => {
  expect(textsIn('x.ts', source).flatMap(namesIn)).toEqual(expected);
});

test('all 25 shipped tools are searched for', () => {
  expect(shippedTools.names).toHaveLength(25);
});
