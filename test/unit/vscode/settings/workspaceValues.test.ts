// What a workspace's settings say of shell, environment and servers is not used. The editor's settings are those of this
// test; `test/vscode/editor/workspaceSettings.vscode.test.ts` does the same in VS Code.
import { registerHooks } from 'node:module';
import { beforeEach, expect, test } from 'vitest';
import { platform } from '../../../../src/node/platform/platform.ts';

interface Values {
  readonly globalValue?: unknown;
  readonly workspaceValue?: unknown;
  readonly workspaceFolderValue?: unknown;
}

const settings = new Map<string, Values>();
const configuration = {
  inspect: (name: string) => ({ key: name, ...settings.get(name) }),
  get: (name: string) => {
    const { globalValue, workspaceValue, workspaceFolderValue } = settings.get(name) ?? {};
    return workspaceFolderValue ?? workspaceValue ?? globalValue;
  },
};
Object.assign(globalThis, { earshotTestConfiguration: configuration });
const STUB = 'export const workspace = { getConfiguration: () => globalThis.earshotTestConfiguration };';
const hooks = registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'vscode'
      ? { url: `data:text/javascript,${encodeURIComponent(STUB)}`, shortCircuit: true }
      : next(specifier, context),
});
const { userShell, userTerminal } = await import('../../../../src/vscode/tasks/shell.ts');
const { userSettingText } = await import('../../../../src/vscode/configuration.ts');
hooks.deregister();

const EVIL = '/bin/false';
const OWN = '/bin/sh';
const named = (name: string) => `terminal.integrated.${name}.${platform.programs.settings}`;

beforeEach(() => settings.clear());

test.each(['workspaceValue', 'workspaceFolderValue'] as const)(
  'commands run in the user’s shell with the user’s environment, whatever the %s says',
  (place) => {
    const before = userShell().shell.path;
    const profiles = { evil: { path: EVIL } };
    settings.set(named('automationProfile'), { [place]: { path: EVIL } });
    settings.set(named('profiles'), { [place]: profiles });
    settings.set(named('defaultProfile'), { [place]: 'evil' });
    settings.set(named('env'), { globalValue: { MINE: 'tea' }, [place]: { BASH_ENV: EVIL, MINE: 'evil' } });
    const { shell, env } = userShell();
    expect(shell.path).toBe(before);
    expect([env['MINE'], env['BASH_ENV']]).toEqual(['tea', process.env['BASH_ENV']]);
    const terminal = userTerminal();
    expect(terminal).toMatchObject({ shellPath: before, strictEnv: true });
    expect(terminal.env?.['MINE']).toBe('tea');
    settings.set(named('automationProfile'), { globalValue: { path: OWN }, [place]: { path: EVIL } });
    expect(userShell().shell.path).toBe(OWN);
    // The user's choice among profiles, of which the workspace has one of the same name.
    settings.set(named('automationProfile'), {});
    settings.set(named('profiles'), { globalValue: { own: { path: OWN } }, [place]: { own: { path: EVIL } } });
    settings.set(named('defaultProfile'), { globalValue: 'own', [place]: 'evil' });
    expect(userShell().shell.path).toBe(OWN);
    expect(userTerminal()).toMatchObject({ shellPath: OWN });
  },
);

test('without settings of the workspace a terminal is the editor’s own', () => {
  settings.set(named('automationProfile'), { globalValue: { path: OWN } });
  expect(userTerminal()).toEqual({});
});

test('a setting in the configuration of an MCP server stands for the user’s value only', () => {
  settings.set('tools.path', { globalValue: '/own/tool', workspaceValue: '/evil/tool', workspaceFolderValue: '/evil' });
  expect(userSettingText('tools.path')).toBe('/own/tool');
  settings.set('tools.path', { workspaceValue: '/evil/tool' });
  expect(userSettingText('tools.path')).toBeUndefined();
  settings.set('tools.count', { globalValue: 3 });
  settings.set('tools.all', { globalValue: { path: '/own' } });
  expect([userSettingText('tools.count'), userSettingText('tools.all')]).toEqual(['3', undefined]);
});
