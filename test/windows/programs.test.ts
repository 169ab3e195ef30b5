// Programs beside the agent on Windows: hooks and plugins that are batch files, `gh`, and `earshot-ears` with its pipe.
import { deepEqual, equal, match, ok, rejects, throws } from 'node:assert/strict';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runHookProcess } from '../../src/hooks/hookProcess.ts';
import { platform } from '../../src/node/platform/platform.ts';
import { realClock } from '../../src/node/realClock.ts';
import { earsState, endEars, recordEarsProgram, startEars } from '../../src/plugins/client/ears.ts';
import { type FoundWindow, windowsOf } from '../../src/plugins/client/windowSockets.ts';
import { programTransport } from '../../src/producers/forge/programTransport.ts';
import { programs, temporaryFolder, test, until } from './support.ts';

test('a hook that is a batch file gets its arguments and its input, as those that npm installs are', async () => {
  const folder = join(temporaryFolder(), 'hooks (x86)');
  mkdirSync(folder);
  const program = join(folder, 'guard.cmd');
  writeFileSync(program, '@echo off\r\nset /p given=\r\necho %~1;%~2;%given%\r\nexit 2\r\n');
  const signal = new AbortController().signal;
  const args = ['a b', 'c'];
  const hook = { program, args, folder, input: '{"tool":1}\n', seconds: 60, clock: realClock, mark: 'm', signal };
  const ended = await runHookProcess(hook);
  ok(ended.ok);
  deepEqual([ended.value.code, ended.value.stdout.trim()], [2, 'a b;c;{"tool":1}']);
});

test('an argument that cmd.exe would interpret is not passed to a batch file', () => {
  throws(() => platform.programs.start('C:\\x\\npx.cmd', ['%PATH%']), /cannot be passed/);
});

test('a forge is asked through gh from the PATH', async () => {
  const folder = temporaryFolder();
  copyFileSync(process.execPath, join(folder, 'gh.exe'));
  const answer = join(folder, 'answer.cjs').replaceAll('\\', '/');
  const words = 'JSON.stringify(process.argv.slice(2))';
  writeFileSync(
    answer,
    `require('node:fs').writeSync(1, 'HTTP/2.0 200 OK\\r\\nEtag: tea\\r\\n\\r\\n' + ${words}); process.exit();`,
  );
  const env = { ...process.env, PATH: folder, NODE_OPTIONS: `--require "${answer}"` };
  const ask = programTransport('github', env);
  const asked = await ask({ host: 'github.com', path: '/repos/tea/shop', etag: 'old' }, new AbortController().signal);
  deepEqual([asked.status, asked.headers['etag']], [200, 'tea']);
  deepEqual(JSON.parse(asked.body), ['-i', '--hostname', 'github.com', '-H', 'If-None-Match: old', '/repos/tea/shop']);
  await rejects(
    programTransport('gitlab', env)({ host: 'gitlab.com', path: '/' }, new AbortController().signal),
    /not installed/,
  );
});

test('earshot-ears watches a folder, answers on its pipe to its token only, and ends when asked', async () => {
  const [home, folder] = [temporaryFolder(), temporaryFolder()];
  await recordEarsProgram({ node: process.execPath, program: join(programs, 'ears.mjs') }, home);
  equal(await startEars(folder, home), true);
  let found: readonly FoundWindow[] = [];
  await until(async () => {
    found = await windowsOf(folder, home);
    return found.length > 0;
  });
  const [ears] = found;
  ok(ears);
  match(ears.path, /^\\\\\.\\pipe\\earshot-[0-9a-f]{16}-ears-\d+$/);
  equal((await earsState(ears))?.root.toLowerCase(), folder.toLowerCase());
  equal(await earsState({ ...ears, token: 'x'.repeat(32) }), undefined);
  equal(await endEars(folder, home), 1);
  await until(async () => (await windowsOf(folder, home)).length === 0);
});
