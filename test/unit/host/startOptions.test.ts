// The command line of `npm start`.
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UserError } from '../../host/console/errors.mjs';
import { portProblem, readStartOptions } from '../../host/start/startOptions.mjs';

let folder: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'earshot options ü ')));
  await mkdir(join(folder, 'sub'));
  await writeFile(join(folder, 'good.json'), '\uFEFF{ "editor.fontSize": 20, "earshot.model": "from file" }');
  await writeFile(join(folder, 'bad.json'), '{ "editor.fontSize": ');
  await writeFile(join(folder, 'list.json'), '[1]');
});

afterAll(() => rm(folder, { recursive: true }));

test('without options the sample is opened in a browser on a free port', async () => {
  expect(await readStartOptions([])).toEqual({ folder: undefined, port: undefined, settings: {}, open: true });
});

test('every option is read in both notations', async () => {
  const port = await freePort();
  const args = ['--folder', join(folder, 'sub'), `--port=${port}`, '--no-open', '--base-url=http://127.0.0.1:1/v1?a=b'];
  expect(await readStartOptions([...args, '--model', 'tiny', '--settings', join(folder, 'good.json')])).toEqual({
    folder: join(folder, 'sub'),
    port,
    open: false,
    settings: { 'editor.fontSize': 20, 'earshot.baseUrl': 'http://127.0.0.1:1/v1?a=b', 'earshot.model': 'tiny' },
  });
});

describe('an invalid option is refused with its name and exit code 2', () => {
  test.each([
    [['--prot', '1'], 'Unknown option: --prot'],
    [['folder'], 'Unknown option: folder'],
    [['--no-open=yes'], 'Unknown option: --no-open=yes'],
    [['--port'], 'The option --port needs a value.'],
    [['--port', '--no-open'], 'The option --port needs a value.'],
    [['--model='], 'The option --model needs a value.'],
    [['--port', '1', '--port', '2'], 'The option --port is given twice.'],
    [['--port', '70000'], '--port 70000: a port is a number from 1 to 65535.'],
    [['--port', '0x50'], '--port 0x50: a port is a number from 1 to 65535.'],
    [['--base-url', 'localhost:11434'], '--base-url localhost:11434: an address such as'],
    [['--base-url', 'nonsense'], '--base-url nonsense: an address such as'],
    [['--folder', '/no/such/folder'], '--folder /no/such/folder: there is no such folder'],
    [['--settings', '/no/such/file'], '--settings /no/such/file: /no/such/file cannot be read (ENOENT).'],
  ])('%j', async (args, message) => {
    expect(await problemWith(args)).toMatchObject({ exitCode: 2, message: expect.stringContaining(message) as string });
  });

  test('a file given as folder and settings that are not a JSON object are refused', async () => {
    expect((await problemWith(['--folder', join(folder, 'bad.json')])).message).toContain('is not a folder');
    expect((await problemWith(['--settings', join(folder, 'bad.json')])).message).toContain('is not JSON');
    expect((await problemWith(['--settings', join(folder, 'list.json')])).message).toContain(
      'must contain a JSON object',
    );
  });
});

test('the error for a port in use names it and says what to do', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const problem = await problemWith(['--port', String(port)]);
  expect(problem.message).toBe(`Port ${port} is in use by another program.`);
  expect(problem.nextStep).toContain('--port N');
  await new Promise((resolve) => server.close(resolve));
  expect(await portProblem(port)).toBeUndefined();
});

async function problemWith(args: readonly string[]): Promise<UserError> {
  const error: unknown = await readStartOptions(args).then(
    () => new Error('accepted'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof UserError)) throw error;
  return error;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
