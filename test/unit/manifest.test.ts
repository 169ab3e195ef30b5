// package.json and the code say the same of commands, settings and views, both ways; the lock file has no addresses.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { settingSchemas } from '../../src/protocol/settings.ts';
import { askUserTool } from '../../src/tools/askUser.ts';
import { awaitTool } from '../../src/tools/commands/await.ts';
import { handleTool } from '../../src/tools/commands/handle.ts';
import { runCommandTool } from '../../src/tools/commands/runCommand.ts';
import { fileTools } from '../../src/tools/files/fileTools.ts';
import { readNotificationsTool } from '../../src/tools/readNotifications.ts';
import { watchTool } from '../../src/tools/watch.ts';
import { withContributions } from '../../src/vscode/contributions/manifest.ts';
import { kindProperties, levelProperties, toolProperties } from '../../src/vscode/contributions/settingProperties.ts';
import { CHAT_VIEW, COMMANDS, VIEW_CONTAINER } from '../../src/vscode/ids.ts';

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
  contributes: {
    commands: { command: string; title: string; category: string }[];
    configuration: { properties: Record<string, Property> };
    views: Record<string, { id: string }[]>;
    menus: Record<string, { command: string }[]>;
  };
  capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
}

const read = (path: string) => readFileSync(resolve(root, path), 'utf8');
const manifest = JSON.parse(read('package.json')) as Manifest;
const { commands, configuration, views, menus } = manifest.contributes;

test('package.json is what `npm run contributions` writes', () => {
  expect(read('package.json')).toBe(withContributions(read('package.json')));
});

test('every command of package.json is registered, and every registered one is in package.json', () => {
  expect(commands.map(({ command }) => command)).toEqual(Object.values(COMMANDS));
  expect(commands.filter(({ category, title }) => category !== 'Earshot' || title === '')).toEqual([]);
});

test('menus name only commands that exist', () => {
  const known = new Set(commands.map(({ command }) => command));
  expect(
    Object.values(menus)
      .flat()
      .filter(({ command }) => !known.has(command)),
  ).toEqual([]);
});

test('every setting of package.json is read, with the same default, and every one that is read is in package.json', () => {
  const inCode = Object.entries(settingSchemas).map(([name, schema]) => [`earshot.${name}`, schema.parse(undefined)]);
  const inManifest = Object.entries(configuration.properties).map(([name, property]) => [name, property.default]);
  expect(Object.fromEntries(inManifest)).toEqual(Object.fromEntries(inCode));
});

test('a setting takes in code what package.json lets a person choose', () => {
  for (const [name, property] of Object.entries(configuration.properties)) {
    const schema = settingSchemas[name.replace('earshot.', '') as keyof typeof settingSchemas];
    for (const value of property.enum ?? [])
      expect([name, value, schema.safeParse(value).success]).toEqual([name, value, true]);
    expect([name, property.order]).toEqual([name, expect.any(Number)]);
  }
});

test('every setting is explained, each choice of one too, and no two have the same place', () => {
  const properties = Object.entries(configuration.properties);
  for (const [name, property] of properties) {
    expect([name, property.markdownDescription]).toEqual([name, expect.stringMatching(/\.$/)]);
    expect([name, property.enumDescriptions?.length]).toEqual([name, property.enum?.length]);
  }
  expect(new Set(properties.map(([, { order }]) => order)).size).toBe(properties.length);
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

test('the kinds, their levels and what each tool can emit are those of the code', () => {
  const properties = (name: string) => configuration.properties[name]?.properties;
  expect(properties('earshot.notifications.kinds')).toEqual(kindProperties());
  expect(properties('earshot.notifications.levels')).toEqual(levelProperties());
  expect(properties('earshot.tools')).toEqual(toolProperties());
  const tools = [...fileTools, runCommandTool, handleTool, awaitTool, watchTool, readNotificationsTool, askUserTool];
  const notifying = tools.filter(({ emits }) => emits.length > 0).map(({ description }) => description.name);
  expect(Object.keys(toolProperties())).toEqual(notifying);
});

test('endpoints are set for a machine and not by an untrusted workspace', () => {
  expect(configuration.properties['earshot.baseUrl']?.scope).toBe('machine');
  expect(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations).toContain('earshot.baseUrl');
});

test('the chat view is the one that the code provides', () => {
  expect(views[VIEW_CONTAINER]?.map(({ id }) => id)).toEqual([CHAT_VIEW]);
});

test('the lock file names no download address', () => {
  expect(read('package-lock.json').match(/"resolved"|https?:\/\/[^"]*\.tgz/g)).toBeNull();
});
