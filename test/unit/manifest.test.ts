// package.json has the generated contributions, and they agree with the code. The lock file has no addresses.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { SETTING_RULES } from '../../src/protocol/settingRules.ts';
import { settingSchemas } from '../../src/protocol/settings.ts';
import { askUserTool } from '../../src/tools/askUser.ts';
import { createAwaitTool } from '../../src/tools/commands/await.ts';
import { handleTool } from '../../src/tools/commands/handle.ts';
import { runCommandTool } from '../../src/tools/commands/runCommand.ts';
import { createFileTools } from '../../src/tools/files/fileTools.ts';
import { readNotificationsTool } from '../../src/tools/readNotifications.ts';
import { watchTool } from '../../src/tools/watch.ts';
import { settingsPage, withKinds } from '../../src/vscode/contributions/docsPages.ts';
import { contributedTexts, withContributions } from '../../src/vscode/contributions/manifest.ts';
import { settingsSafetyPage } from '../../src/vscode/contributions/settingsSafety.ts';
import { kindProperties, levelProperties, toolProperties } from '../../src/vscode/contributions/settingProperties.ts';
import {
  AGENTS_CONTAINER,
  AGENTS_VIEW,
  CHAT_VIEW,
  COMMANDS,
  MCP_VIEW,
  PLUGINS_VIEW,
  VIEW_CONTAINER,
} from '../../src/vscode/ids.ts';

const root = resolve(import.meta.dirname, '../..');

interface Property {
  default: unknown;
  enum?: string[];
  enumDescriptions?: string[];
  minimum?: number;
  maximum?: number;
  properties?: object;
  markdownDescription?: string;
  scope: string;
  order: number;
}

interface Manifest {
  readonly extensionKind: readonly string[];
  contributes: {
    commands: { command: string; title: string; category: string }[];
    configuration: { title: string; order: number; properties: Record<string, Property> }[];
    views: Record<string, { id: string }[]>;
    menus: Record<string, { command: string; when: string; group: string }[]>;
  };
  capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
}

const read = (path: string) => readFileSync(resolve(root, path), 'utf8');
const texts = JSON.parse(read('package.nls.json')) as Record<string, string>;
const manifest = JSON.parse(read('package.json'), (_key, value: unknown) =>
  typeof value === 'string' && /^%.+%$/.test(value) ? texts[value.slice(1, -1)] : value,
) as Manifest;
const { commands, configuration: sections, views, menus } = manifest.contributes;
const configuration = {
  properties: Object.assign({}, ...sections.map(({ properties }) => properties)) as Record<string, Property>,
};

test('package.json and its texts are what `npm run contributions` writes', () => {
  expect(read('package.json')).toBe(withContributions(read('package.json')));
  expect(read('package.nls.json')).toBe(contributedTexts());
});

test('docs/settings-safety.md is what `npm run contributions` writes', () => {
  expect(read('docs/settings-safety.md')).toBe(settingsSafetyPage());
  expect(read('docs/settings.md')).toBe(settingsPage());
  expect(read('docs/notifications.md')).toBe(withKinds(read('docs/notifications.md')));
});

test('the table of sources in docs/notifications.md names every producer that can be turned off', () => {
  const [, table = ''] = /\n## Sources[^\n]*\n(.*?)\n## /s.exec(read('docs/notifications.md')) ?? [];
  const { properties = {} } = configuration.properties['earshot.notifications.producers'] ?? {};
  const names = Object.keys(properties);
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter((name) => !table.includes(`\`${name}\``))).toEqual([]);
});

test('package.json has every registered command and no other', () => {
  expect(commands.map(({ command }) => command)).toEqual(Object.values(COMMANDS));
  expect(commands.filter(({ category, title }) => category !== 'Earshot' || title === '')).toEqual([]);
});

test('menus contain only commands that exist', () => {
  const known = new Set(commands.map(({ command }) => command));
  expect(
    Object.values(menus)
      .flat()
      .filter(({ command }) => !known.has(command)),
  ).toEqual([]);
});

test('the menu of the chat has groups of at most four commands', () => {
  const inMenu = (menus['view/title'] ?? []).filter(
    ({ when, group }) => when.includes(CHAT_VIEW) && !group.startsWith('navigation'),
  );
  const groups = Map.groupBy(inMenu, ({ group }) => group.split('@', 1)[0]);
  expect(groups.size).toBeGreaterThan(4);
  expect([...groups].filter(([, items]) => items.length > 4)).toEqual([]);
});

test('package.json has every setting of the code, with the same default, and no other', () => {
  const inCode = Object.entries(settingSchemas).map(([name, schema]) => [`earshot.${name}`, schema.parse(undefined)]);
  const inManifest = Object.entries(configuration.properties).map(([name, property]) => [name, property.default]);
  expect(Object.fromEntries(inManifest)).toEqual(Object.fromEntries(inCode));
});

test('the code accepts every choice that package.json offers', () => {
  for (const [name, property] of Object.entries(configuration.properties)) {
    const schema = settingSchemas[name.replace('earshot.', '') as keyof typeof settingSchemas];
    for (const value of property.enum ?? [])
      expect([name, value, schema.safeParse(value).success]).toEqual([name, value, true]);
    expect([name, property.order]).toEqual([name, expect.any(Number)]);
  }
});

test('every setting and every choice has a description', () => {
  const properties = Object.entries(configuration.properties);
  for (const [name, property] of properties) {
    expect([name, property.markdownDescription]).toEqual([name, expect.stringMatching(/\.$/)]);
    expect([name, property.enumDescriptions?.length]).toEqual([name, property.enum?.length]);
  }
});

test('the settings are in titled sections, and each has its place in its section', () => {
  expect(sections.map(({ title, order }) => [order, title])).toEqual([
    [1, 'Model'],
    [2, 'Chat'],
    [3, 'Approvals and Limits'],
    [4, 'Notifications'],
    [5, 'Commands and Hooks'],
    [6, 'MCP Servers'],
    [7, 'Program Plugins and Web Chat'],
    [8, 'Agents and Hub'],
  ]);
  for (const { title, properties } of sections) {
    const orders = Object.values(properties).map(({ order }) => order);
    expect([title, orders]).toEqual([title, orders.map((_, index) => index + 1)]);
    expect([title, orders.length > 1 && orders.length < 15]).toEqual([title, true]);
  }
});

test('a number has the same limits in package.json and in code', () => {
  for (const [name, { minimum, maximum }] of Object.entries(configuration.properties)) {
    const schema = settingSchemas[name.replace('earshot.', '') as keyof typeof settingSchemas];
    const takes = (value: number | undefined) => value === undefined || schema.safeParse(value).success;
    expect([name, takes(minimum), takes(maximum)]).toEqual([name, true, true]);
    if (minimum !== undefined) expect([name, takes(minimum - 1)]).toEqual([name, false]);
    if (maximum !== undefined) expect([name, takes(maximum + 1)]).toEqual([name, false]);
  }
});

test('the kinds, their levels and the kinds that each tool can emit are those of the code', () => {
  const properties = (name: string) => configuration.properties[name]?.properties;
  expect(properties('earshot.notifications.kinds')).toEqual(kindProperties());
  expect(properties('earshot.notifications.levels')).toEqual(levelProperties());
  expect(properties('earshot.tools')).toEqual(toolProperties());
  const tools = [
    ...createFileTools(),
    runCommandTool,
    handleTool,
    createAwaitTool(),
    watchTool,
    readNotificationsTool,
    askUserTool,
  ];
  const notifying = tools.filter(({ emits }) => emits.length > 0).map(({ description }) => description.name);
  expect(Object.keys(toolProperties())).toEqual(notifying);
});

test('models and providers follow the user to a remote machine, and what is about a machine stays there', () => {
  const scopeOf = (name: string) => configuration.properties[`earshot.${name}`]?.scope;
  expect(['model', 'models', 'providers', 'baseUrl'].map(scopeOf)).toEqual(['window', 'window', 'window', 'window']);
  const own = ['hub.port', 'hub.machine', 'hub.credentials', 'webChat.allowedHosts', 'scripts.post'];
  expect(new Set([...own, 'approvals.mode', 'approvals.commands'].map(scopeOf))).toEqual(new Set(['machine']));
  expect(manifest.extensionKind).toEqual(['workspace']);
});

test('the endpoint is never a workspace’s, and not read from an untrusted one', () => {
  expect([SETTING_RULES.baseUrl.by, SETTING_RULES.providers.by, SETTING_RULES.models.by]).toEqual([
    'user',
    'user',
    'user',
  ]);
  expect(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations).toContain('earshot.baseUrl');
});

test('package.json contributes the views that the code registers', () => {
  expect(views[VIEW_CONTAINER]?.map(({ id }) => id)).toEqual([CHAT_VIEW, MCP_VIEW, PLUGINS_VIEW]);
  expect(views[AGENTS_CONTAINER]?.map(({ id }) => id)).toEqual([AGENTS_VIEW]);
});

test('the lock file contains no download addresses', () => {
  expect(read('package-lock.json').match(/"resolved"|https?:\/\/[^"]*\.tgz/g)).toBeNull();
});
