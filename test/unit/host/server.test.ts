// The VS Code server: settings, extension hosts, flags and environment.
import { expect, test } from 'vitest';
import { readDesktopFlags } from '../../host/editor/desktopFlags.ts';
import { createExtensionHosts, type ExtensionHostExit } from '../../host/editor/extensionHosts.ts';
import { npmEnvironment, npmScript } from '../../host/install/npm.mjs';
import { serverEnvironment } from '../../host/editor/serverEnvironment.ts';
import { mergeSettings } from '../../host/editor/serverSettings.ts';

test('later settings override earlier ones, and null restores the default of VS Code', () => {
  const merged = mergeSettings({ a: 1, b: { deep: true }, c: 3 }, { a: 2, b: { other: 1 } }, { c: null });
  expect(merged).toEqual({ a: 2, b: { other: 1 } });
});

test('running extension hosts are tracked from the server output', () => {
  const hosts = createExtensionHosts();
  const exits: ExtensionHostExit[] = [];
  hosts.onDidExit((exit) => exits.push(exit));
  const connection = '[01:48:41] [127.0.0.1][9b6b832f][ExtensionHostConnection]';
  hosts.readLine(`${connection} <6102> Launched Extension Host Process.`);
  hosts.readLine(`${connection} <6103> Launched Extension Host Process.`);
  expect(hosts.pids()).toEqual([6102, 6103]);
  hosts.readLine(`${connection} <6102> Extension Host Process exited with code: null, signal: SIGKILL.`);
  hosts.readLine(`${connection} <6103> Extension Host Process exited with code: 0, signal: null.`);
  expect(hosts.pids()).toEqual([]);
  expect(exits).toEqual([
    { pid: 6102, how: 'code: null, signal: SIGKILL', clean: false },
    { pid: 6103, how: 'code: 0, signal: null', clean: true },
  ]);
});

test('flags of a desktop VS Code are read in any order, and unknown ones are ignored', () => {
  const flags = ['/a/folder', '--no-sandbox', '--extensionTestsPath=/t/index.cjs', '--extensionDevelopmentPath=/e x'];
  expect(readDesktopFlags([...flags, '--user-data-dir=/data', '--skip-welcome'])).toEqual({
    folder: '/a/folder',
    extension: '/e x',
    tests: '/t/index.cjs',
    userDataDir: '/data',
    extensionsDir: undefined,
    disableWorkspaceTrust: false,
  });
  expect(() => readDesktopFlags(['--extensionTestsPath=/t'])).toThrow('--extensionDevelopmentPath=PATH is missing.');
});

test('the server environment has no variables of npm, the test runner or another editor', () => {
  const inherited = {
    PATH: '/bin',
    HOME: '/me',
    VSCODE_PID: '1',
    npm_config_x: '1',
    NODE_OPTIONS: '-r x',
    VITEST: '1',
    LANG: 'C',
  };
  const place = { home: '/home', runtimeFolder: '/run', node: '/node/bin/node' };
  expect(serverEnvironment(inherited, place, { EARSHOT_TEST_RESULTS: '/r' })).toEqual({
    PATH: '/node/bin:/bin',
    HOME: '/home',
    USERPROFILE: '/home',
    EARSHOT_HOME: '/home',
    XDG_RUNTIME_DIR: '/run',
    LANG: 'C',
    EARSHOT_TEST_RESULTS: '/r',
  });
});

test('npm is called with the user’s settings, not those of the npm process that runs the tests', () => {
  const environment = {
    npm_package_name: 'earshot',
    npm_config_local_prefix: '/x',
    npm_config_registry: 'http://mine',
    NODE_ENV: 'production',
  };
  expect(npmEnvironment(environment)).toEqual({ npm_config_registry: 'http://mine' });
  expect(npmScript({ npm_execpath: '/n/npm-cli.js' })).toBe('/n/npm-cli.js');
  expect(npmScript({ npm_execpath: '/n/pnpm.cjs' })).toBeUndefined();
});
