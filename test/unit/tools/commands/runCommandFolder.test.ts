// The folder in which run_command runs, in a workspace with several folders.
import { expect, test } from 'vitest';
import { type ToolContext } from '../../../../src/core/ports/ports.ts';
import { runCommandTool } from '../../../../src/tools/commands/runCommand.ts';

const shop = { path: 'shop', absolute: '/w/shop' };
const api = { path: 'api', absolute: '/w/api' };

/** Resolves with the folder in which the command was started, or with why it was not. */
async function run(folder: string | undefined, folders = [shop, api]): Promise<string> {
  let started: string | undefined;
  const handles = {
    get: () => undefined,
    start: async (request: { folder: string }) => {
      started = request.folder;
      return { ok: false, failure: { code: 'not_started', message: 'not in this test' } };
    },
  };
  const context = { workspace: { folders }, handles, call: 'c' } as unknown as ToolContext;
  const args = runCommandTool.parse({ command: 'npm test', ...(folder !== undefined && { folder }) });
  if (!args.ok) throw new Error(args.failure.message);
  const { content } = await runCommandTool.run(args.value, context);
  return started ?? content;
}

test('it is the first folder, or the named one', async () => {
  expect([await run(undefined), await run('api')]).toEqual(['/w/shop', '/w/api']);
});

test('an unknown folder is refused with the names of the others', async () => {
  expect(await run('apl')).toBe('There is no workspace folder “apl”. Folders: shop, api.');
  expect(await run('apl', [{ path: '', absolute: '/w/shop' }])).toContain('leave folder out');
});

test('the approval is for a command in this folder', () => {
  const touched = runCommandTool.touches?.({ command: 'npm test', folder: 'api' });
  expect(touched).toEqual({ command: 'npm test', folder: 'api' });
});

test('without a disk it is said that commands cannot be run', async () => {
  const virtual = [{ path: '', absolute: 'vscode-vfs://github/tea/shop' }];
  expect(await run(undefined, virtual)).toBe('Commands cannot be run here: the workspace is not on a disk.');
  expect(await run(undefined, [])).toContain('No folder is open');
});
