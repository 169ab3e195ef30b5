// The npm package earshot-ears, installed from its archive into an empty folder, as a user does.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { quietInstall, runNpm } from '../../host/install/npm.mjs';
import { makeNpmPackage } from '../../host/packaging/npmPackage.ts';
import { atTestEnd } from '../../support/endings.ts';

const run = promisify(execFile);

async function installed() {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'earshot-npm-')));
  atTestEnd(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
  const archive = join(root, 'earshot-ears.tgz');
  const size = await makeNpmPackage(join(root, 'package'), archive);
  const [place, folder, home] = [join(root, 'place'), join(root, 'project'), join(root, 'home')];
  for (const made of [place, join(folder, '.git'), home]) await mkdir(made, { recursive: true });
  await writeFile(join(place, 'package.json'), '{ "private": true }');
  await runNpm(['install', ...quietInstall, '--offline', archive], { cwd: place, purpose: 'earshot-ears' });
  // The programs run with this Node, also where the machine's own is an older one.
  const PATH = [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
  const env = { PATH, HOME: home, EARSHOT_HOME: home };
  const bin = (name: string) => join(place, 'node_modules', '.bin', name);
  const ears = async (...args: readonly string[]) => {
    const { stdout } = await run(bin('earshot-ears'), args, { env, cwd: folder });
    return stdout;
  };
  /** Runs the hook as the agent's settings say, with the session's event. */
  const hook = async (command: string, input: object) => {
    const call = run('sh', ['-c', command], { env, cwd: folder });
    call.child.stdin?.end(JSON.stringify({ session_id: 's1', cwd: folder, ...input }));
    return (await call).stdout;
  };
  return { size, place, folder, home, env, bin, ears, hook };
}

test('installed from its archive, it is installed for each agent, watches, notifies, says what it cannot do, and is removed', {
  timeout: 300_000,
}, async () => {
  const { size, folder, home, env, bin, ears, hook } = await installed();
  expect(size).toBeLessThan(1_000_000);
  const names = ['claude-code', 'codex', 'copilot', 'cursor', 'gemini', 'opencode'];
  expect(await ears('status')).toContain('is not installed');
  const output = await ears('install', ...names);
  for (const name of ['Claude Code', 'Codex', 'GitHub Copilot', 'Cursor', 'Gemini CLI', 'opencode']) {
    expect(output).toContain(`${name}: installed in ${home}`);
  }
  expect(await ears('install', ...names)).toContain('Claude Code: is installed already.');

  const settings = JSON.parse(await readFile(join(home, '.claude', 'settings.json'), 'utf8')) as {
    hooks: Record<string, { hooks: { command: string }[] }[]>;
  };
  const command = (event: string) => settings.hooks[event]?.[0]?.hooks[0]?.command ?? '';
  await writeFile(join(folder, 'menu.txt'), 'tea\n');
  expect(await hook(command('SessionStart'), { hook_event_name: 'SessionStart' })).toBe('');
  const status = await ears('status');
  expect(status).toContain(`watches ${folder} since`);
  expect(status).toContain('Without an editor there are no notifications of problems');
  const read = { tool_name: 'Read', tool_input: { file_path: join(folder, 'menu.txt') } };
  await hook(command('PostToolUse'), { hook_event_name: 'PostToolUse', ...read });
  await run(bin('earshot-notify'), ['the', 'oven', 'is', 'hot'], { env, cwd: folder });
  const given = await hook(command('PostToolBatch'), { hook_event_name: 'PostToolBatch' });
  expect(given).toContain('the oven is hot');

  expect(await ears('stop')).toContain('no longer watches');
  expect(await ears('status')).toContain('Nobody watches');
  expect(await ears('remove', ...names)).toContain('Codex: removed from');
  await expect(readFile(join(home, '.claude', 'settings.json'))).rejects.toThrow('ENOENT');
  expect(await ears('remove', 'codex')).toContain('was not installed');
});

test('an unknown agent and a damaged settings file are refused with what to do, and nothing is changed', {
  timeout: 300_000,
}, async () => {
  const { home, ears } = await installed();
  await expect(ears('install', 'cline')).rejects.toMatchObject({
    code: 2,
    stdout: expect.stringContaining('There is no “cline”') as string,
  });
  await mkdir(join(home, '.codex'));
  await writeFile(join(home, '.codex', 'hooks.json'), '{ "hooks": [');
  await expect(ears('install', 'codex')).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringContaining('Correct the file, then try again.') as string,
  });
  expect(await readFile(join(home, '.codex', 'hooks.json'), 'utf8')).toBe('{ "hooks": [');
});
