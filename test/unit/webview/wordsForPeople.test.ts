// Words for people: every failure code, every tool and every argument has a form that is not written for a model, in
// English and in German.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { FAILURE_TEXTS } from '../../../src/base/failureTexts.ts';
import { FRAMES, TEMPLATES, translateSentence } from '../../../src/base/people/sentences.ts';
import { knownToolLabel, otherToolName, readableKey } from '../../../src/base/toolLabels.ts';
import { createSubscribeEvents } from '../../../src/mcp/events/subscribeEvents.ts';
import { createReadResource } from '../../../src/mcp/resources/readResource.ts';
import { createFindTools } from '../../../src/mcp/tools/findTools.ts';
import { SOURCE_LABELS } from '../../../src/protocol/kindLabels.ts';
import { KINDS } from '../../../src/protocol/kinds.ts';
import { knownArgumentLabel } from '../../../src/webview/strings/argumentStrings.ts';
import { notificationStrings } from '../../../src/webview/strings/notificationStrings.ts';
import { isKnownTool, toolIcon, toolLabel, toolTitle } from '../../../src/webview/toolTitle.ts';
import { coreTexts } from '../../support/l10n/coreTexts.ts';
import { shippedTools } from '../../support/shippedTools.ts';

const root = resolve(import.meta.dirname, '../../..');
const german = JSON.parse(readFileSync(resolve(root, 'media/l10n/bundle.l10n.de.json'), 'utf8')) as Record<
  string,
  string
>;

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** The names of all arguments, also of nested ones. */
function argumentsOf({ properties = {}, items }: Schema): string[] {
  const own = Object.entries(properties).flatMap(([key, schema]) => [key, ...argumentsOf(schema)]);
  return items === undefined ? own : [...own, ...argumentsOf(items)];
}

const ofServers = [
  createFindTools(() => []),
  createReadResource({ servers: () => [] } as unknown as Parameters<typeof createReadResource>[0]),
  createSubscribeEvents({} as unknown as Parameters<typeof createSubscribeEvents>[0]),
].map(({ description }) => description);
const tools = [...shippedTools.descriptions, ...ofServers];

test.each(tools.map(({ name, parameters }) => [name, parameters] as const))(
  '%s and each of its arguments have labels in both languages',
  (name, parameters) => {
    expect(isKnownTool(name)).toBe(true);
    expect(toolIcon(name)).not.toBe('tools');
    expect(toolTitle(name, {})).toMatch(/^[A-Z][a-z]/);
    const labels = [
      knownToolLabel(name),
      ...argumentsOf(parameters as Schema).map((key) => knownArgumentLabel(name, key) ?? `no label for ${key}`),
    ];
    for (const label of labels) {
      expect(label).toMatch(/^[A-Z][^_]*$/);
      expect(german[label ?? '']).toBeTypeOf('string');
    }
  },
);

/** The members of the unions of failure codes. */
function failureCodes(): string[] {
  const file = resolve(root, 'src/base/failureCodes.ts');
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isLiteralTypeNode(node) && ts.isStringLiteral(node.literal)) found.push(node.literal.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true));
  return [...new Set(found)];
}

test('every failure code has a sentence for people in both languages, which names no tool and no argument', () => {
  const codes = failureCodes();
  expect(codes.length).toBeGreaterThan(100);
  expect(Object.keys(FAILURE_TEXTS).toSorted()).toEqual(codes.toSorted());
  for (const text of Object.values(FAILURE_TEXTS)) {
    expect(text).toMatch(/^[A-Z].*\.$/);
    expect(text).not.toMatch(/_|\b[Tt]he user\b/);
    expect(german[text]).toBeTypeOf('string');
  }
});

test('tools and arguments of MCP servers are shown in readable form, whatever they are called', () => {
  expect(toolLabel('weather__get_today')).toBe('weather: get today');
  expect(otherToolName('read_files')).toBe('read files');
  for (const odd of ['__', '_', 'a__', '__proto__', 'constructor', 'toString']) {
    expect(knownToolLabel(odd)).toBeUndefined();
    expect(toolLabel(odd)).not.toBe('');
    expect(knownArgumentLabel('weather__get_today', odd)).toBeUndefined();
  }
  expect(readableKey('first_line')).toBe('First line');
  expect(readableKey('firstLine')).toBe('First line');
  expect(readableKey('URL')).toBe('URL');
  expect(readableKey('')).toBe('');
});

const inGerman = (text: string) =>
  translateSentence(text, (key, ...values) =>
    (Object.hasOwn(german, key) ? (german[key] ?? key) : key).replace(
      /\{(\d)\}/g,
      (whole, at) => values[Number(at)] ?? whole,
    ),
  );

test('every sentence with values that core, models, hooks and MCP servers make is in the list, and no other', () => {
  const texts = coreTexts().filter((text) => text.includes('{0}'));
  expect(texts.length).toBeGreaterThan(40);
  expect([...FRAMES, ...TEMPLATES].toSorted()).toEqual(texts.toSorted());
});

test.each(coreTexts())('people read it in German: %s', (text) => {
  const values = ['path/to/one', 'other.txt', 'third', 'fourth'];
  const filled = text.replace(/\{(\d)\}/g, (_, at) => values[Number(at)] ?? '');
  const expected = (german[text] ?? 'no translation').replace(/\{(\d)\}/g, (_, at) => values[Number(at)] ?? '');
  expect(inGerman(filled)).toBe(expected);
});

test('several reasons, a reason with a hook’s, and sentences in sentences are translated part by part', () => {
  expect(inGerman('../a is outside the workspace; .env is protected: .env may hold secrets.')).toBe(
    '../a liegt außerhalb des Arbeitsbereichs; .env ist geschützt: .env kann Geheimnisse enthalten.',
  );
  expect(
    inGerman(
      'it may lead outside the workspace: the value of its program is known only when it runs. Also, a hook of the user wants you to decide: Look. Twice.',
    ),
  ).toBe(
    'der Befehl führt möglicherweise aus dem Arbeitsbereich hinaus: der Wert von seinem Programm ist erst bei der Ausführung bekannt. Außerdem: einer Ihrer Hooks verlangt Ihre Entscheidung: Look. Twice.',
  );
  expect(inGerman('A tool of the MCP server “tea”. It says that the tool only reads.')).toBe(
    'Ein Werkzeug des MCP-Servers „tea“. Nach seinen Angaben gilt für das Werkzeug: es liest nur.',
  );
});

test('shortened lists and times in a sentence are translated', () => {
  expect(inGerman('You restored a.ts, b.ts, c.ts and 2 more.')).toContain('a.ts, b.ts, c.ts und 2 weitere');
  expect(inGerman('You undid changes in a.ts and b more.')).toContain('a.ts and b more');
  const wait = (time: string) => inGerman(`It asks to wait ${time}; send again then, or choose another model.`);
  expect(wait('5 minutes')).toContain('5 Minuten');
  expect(wait('1 minute')).toContain('1 Minute');
  expect(wait('3 hours')).toContain('3 Stunden');
});

test('what a hook, a damaged log or a full disk says is German after the colon, too', () => {
  expect(inGerman('The hook guard.sh had no effect: it took longer than 5 s.')).toMatch(
    /: er dauerte länger als 5 s\.$/,
  );
  expect(inGerman('The hook a b had no effect: it ended with exit code 1: no such file')).toMatch(
    /: er endete mit Exitcode 1: no such file$/,
  );
  expect(
    inGerman('The hook x had no effect: The program “guard” was not found. Correct its command in the settings.'),
  ).toMatch(/: Das Programm „guard“ wurde nicht gefunden\. Berichtigen Sie den Befehl in den Einstellungen\.$/);
  expect(
    inGerman('Line 3 of this conversation’s log is damaged (it is not JSON) and was left out; the rest is intact.'),
  ).toBe(
    'Zeile 3 im Protokoll dieser Unterhaltung ist beschädigt (sie ist kein JSON) und wurde ausgelassen; der Rest ist unversehrt.',
  );
  expect(
    inGerman('Line 9 of this conversation’s log does not follow the one before: before it, events 4 to 8 are missing.'),
  ).toMatch(/davor fehlen die Ereignisse 4 bis 8\.$/);
});

test('values stay as they are, whatever they contain', () => {
  expect(inGerman('its program is outside the workspace.')).toBe('its program liegt außerhalb des Arbeitsbereichs.');
  expect(inGerman('a; {0} $& b is outside the workspace.')).toBe('a; {0} $& b liegt außerhalb des Arbeitsbereichs.');
  for (const odd of ['', '.', '; ', 'constructor', '__proto__', 'Whatever a server says.', ' Also, ']) {
    expect(inGerman(odd)).toBe(odd);
  }
  const long = 'x; is outside the workspace Also, '.repeat(20_000);
  expect(inGerman(long).length).toBeGreaterThan(100_000);
});

test('every source of notifications has a name for people, the same on the page and in the list, also in German', () => {
  const sources = [...new Set(Object.keys(KINDS).map((kind) => kind.split('.')[0] ?? ''))];
  const unnamed = sources.filter((source) => german[SOURCE_LABELS[source] ?? ''] === undefined);
  expect(unnamed).toEqual([]);
  expect(notificationStrings.sources).toEqual(SOURCE_LABELS);
});
