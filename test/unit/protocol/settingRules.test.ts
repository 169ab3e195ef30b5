// Settings of a workspace combined with the user's: they lower limits, and never raise what the user allows.
import { expect, test } from 'vitest';
import { readScopedSettings, SETTING_RULES } from '../../../src/protocol/settingRules.ts';
import { type SettingName, type Settings } from '../../../src/protocol/settings.ts';

type Values = Partial<Record<SettingName, unknown>>;

function read(user: Values, workspace: Values) {
  return readScopedSettings((name) => ({ user: user[name], workspace: workspace[name] }));
}

/** The value that holds for one setting, and whether the workspace's was ignored. */
function combined(name: SettingName, user: unknown, workspace: unknown, others: Values = {}) {
  const { settings, ignored, problems } = read({ ...others, [name]: user }, { [name]: workspace });
  expect(problems).toEqual([]);
  return [settings[name], ignored.length > 0];
}

test.each<[SettingName, unknown, unknown, unknown, boolean]>([
  ['limits.tokens', 1000, 0, 1000, true],
  ['limits.tokens', 1000, 5000, 1000, true],
  ['limits.tokens', 1000, 500, 500, false],
  ['limits.tokens', 0, 500, 500, false],
  ['limits.cost', 2.5, 0, 2.5, true],
  ['agents.depth', 0, 3, 0, true],
  ['mode', 'plan', 'agent', 'plan', true],
  ['mode', 'agent', 'plan', 'plan', false],
  ['approvals.mode', 'ask', 'all', 'ask', true],
  ['approvals.commands', ['git status'], ['rm'], ['git status'], true],
  ['baseUrl', 'https://mine.example/v1', 'https://evil.example/v1', 'https://mine.example/v1', true],
  ['plugins.respondFallback', 'reject', 'approve', 'reject', true],
  ['plugins.respondTimeout', 300, 1, 300, true],
  ['webChat.allowedHosts', [], ['evil.example'], [], true],
  ['scripts.wake', false, true, false, true],
  ['scripts.post', false, true, false, true],
  ['editorContext', 'file', 'selection', 'file', true],
  ['editorContext', 'file', 'off', 'off', false],
  ['hub.enabled', false, true, false, true],
  ['hub.enabled', true, false, false, false],
  ['hub.server', '', 'nats://evil.example', '', true],
  ['notifications.activation', 'passive', 'interrupt', 'passive', true],
  ['notifications.activation', 'interrupt', 'wake', 'wake', false],
  ['notifications.enable', true, false, false, false],
  ['notifications.cap', 10, 100, 10, true],
  ['notifications.tokenBudget', 1500, 100_000, 1500, true],
  ['notifications.ignoredPaths', ['dist'], ['out'], ['dist', 'out'], false],
  ['notifications.producers', { git: false }, { git: true, tasks: false }, { git: false, tasks: false }, true],
  ['notifications.kinds', { git: { enable: false } }, { git: { enable: true } }, { git: { enable: false } }, true],
  ['notifications.levels', { 'git.commit': 'info' }, { 'git.commit': 'critical' }, { 'git.commit': 'info' }, true],
  ['notifications.levels', {}, { 'git.commit': 'warning' }, { 'git.commit': 'warning' }, false],
  ['handles.afterTurn', 'stop', 'keep', 'stop', true],
  ['handles.ownerTimeout', 30, 3600, 30, true],
  ['sendKey', 'enter', 'modifierEnter', 'modifierEnter', false],
])('%s: with %j of the user and %j of the workspace, %j holds', (name, user, workspace, expected, ignored) => {
  expect(combined(name, user, workspace)).toEqual([expected, ignored]);
});

test('tools: a workspace turns notifications off, not on', () => {
  const tools = (on: boolean) => ({ run_command: { notifications: { stopped: on } } });
  expect(combined('tools', tools(false), tools(true))).toEqual([tools(false), true]);
  expect(combined('tools', undefined, tools(false))).toEqual([tools(false), false]);
});

test('a model of the workspace counts only if the user has configured it', () => {
  const models = { cheap: {} };
  expect(combined('model', 'mine', 'cheap', { models })).toEqual(['cheap', false]);
  expect(combined('model', 'mine', 'dear', { models })).toEqual(['mine', true]);
  expect(combined('model', 'mine', '__proto__', { models })).toEqual(['mine', true]);
  const { settings } = read({ model: 'mine' }, { model: 'dear', models: { dear: {}, mine: { maxTokens: 1 } } });
  expect([settings.model, settings.models]).toEqual(['mine', {}]);
});

test('programs of a workspace are not among the settings, since they need approval, but are checked', () => {
  const workspace = { hooks: { before_tool: [{ command: ['./evil'] }] }, 'mcp.servers': { evil: { command: 'evil' } } };
  const { settings, ignored, problems } = read({}, workspace);
  expect([settings.hooks, settings['mcp.servers'], ignored, problems]).toEqual([{}, {}, [], []]);
  expect(read({}, { hooks: 1 }).problems).toMatchObject([{ name: 'earshot.hooks' }]);
});

test('an invalid value of the workspace is reported, and the user’s holds', () => {
  const { settings, problems } = read({ 'limits.tokens': 1000 }, { 'limits.tokens': 'none' });
  expect(settings['limits.tokens']).toBe(1000);
  expect(problems).toMatchObject([{ name: 'earshot.limits.tokens' }]);
});

test('only settings that cannot run, send, cost or allow anything may be set by anyone', () => {
  const names = Object.keys(SETTING_RULES) as (keyof Settings)[];
  expect(names.filter((name) => SETTING_RULES[name].by === 'anyone')).toEqual([
    'attention.toast',
    'attention.sound',
    'sendKey',
    'mcp.timeout',
    'notifications.format',
    'hub.role',
    'tests.reports',
  ]);
});
