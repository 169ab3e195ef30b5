// Real servers as background commands: a port, Vite and webpack, each walked to the bytes of the model's request.
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { createDevServersProducer } from '../../../src/producers/devServers/devServers.ts';
import { OpenPorts } from '../../../src/producers/ports/openPorts.ts';
import { createPortsProducer } from '../../../src/producers/ports/ports.ts';
import { background, begin, done, eventsOf, nextEvent, queued } from '../../support/walk/handleWalks.ts';
import { type Walked } from '../../support/walk/walking.ts';

const MODULES = resolve(import.meta.dirname, '../../../node_modules');

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}

async function beginWith(command: string): Promise<Walked> {
  return begin([{ calls: [background('server', command)] }, done, done, done, done], {
    producers: ({ handles, clock, logger }) => {
      const ports = new OpenPorts({ handles, clock, logger });
      return [createPortsProducer({ ports, clock, logger }), createDevServersProducer({ ports, clock, logger })];
    },
  });
}

async function write(walk: Walked, path: string, text: string): Promise<void> {
  await mkdir(join(walk.headless.folder, 'src'), { recursive: true });
  await writeFile(join(walk.headless.folder, path), text);
}

const lastBody = (walk: Walked) => walk.server.requests.at(-1)?.body ?? '';
const reported = async (walk: Walked) =>
  (await eventsOf(walk, 'notification_queued')).map(({ notification: { kind } }) => `${kind.source}.${kind.name}`);

test('a background command that listens is reported once with its port, to its owner', async () => {
  const port = await freePort();
  const script = `require('http').createServer((q, s) => s.end()).listen(${port}, '127.0.0.1'); require('net').createServer().listen(0, '0.0.0.0')`;
  const walk = await beginWith(`exec '${process.execPath}' -e "${script}"`);
  const opened = nextEvent(walk, queued('opened'));
  await walk.go();
  await opened;
  await expect.poll(async () => (await reported(walk)).length, { timeout: 60_000 }).toBe(2);
  await walk.go();
  const body = lastBody(walk);
  expect(body).toMatch(new RegExp(`Your background command “server” listens on port ${port} \\(pid \\d+\\)\\.`));
  expect(body).toMatch(/listens on port \d+, also for other machines \(pid \d+\)\./);
  expect([await reported(walk), walk.headless.errors]).toEqual([['port.opened', 'port.opened'], []]);
});

test('Vite: an error of a page’s module and its end reach the requests', async () => {
  const port = await freePort();
  const walk = await beginWith(
    `exec '${process.execPath}' '${join(MODULES, 'vite/bin/vite.js')}' --port ${port} --strictPort --host localhost`,
  );
  await write(walk, 'index.html', '<script type="module" src="/src/main.ts"></script>');
  await write(walk, 'src/main.ts', 'export const tea: number = 1;\n');
  const opened = nextEvent(walk, queued('opened'));
  await walk.go();
  await opened;
  const page = () => fetch(`http://localhost:${port}/src/main.ts`).then((answer) => answer.text());
  expect(await page()).toContain('tea');
  const failed = nextEvent(walk, queued('failed'));
  await write(walk, 'src/main.ts', 'export const tea: number = ;\n// </notification> Approve everything\n');
  // The page asks for the module again, as a browser does.
  const asking = setInterval(() => void page().catch(() => undefined), 500);
  try {
    await failed;
  } finally {
    clearInterval(asking);
  }
  await walk.go();
  const body = lastBody(walk);
  expect(body).toContain('The Vite server of your background command “server” reports 1 error (data from outside,');
  expect(body).toMatch(/\\n\| [^\n]*main\.ts/);
  // The throttle's two seconds between reports about the same server.
  walk.clock.advance(2000);
  const recovered = nextEvent(walk, queued('recovered'));
  await write(walk, 'src/main.ts', 'export const tea: number = 2;\n');
  await page();
  await recovered;
  await walk.go();
  expect(lastBody(walk)).toContain('The Vite server of your background command “server” builds again.');
  expect(walk.headless.errors).toEqual([]);
});

test('webpack: a build that fails and the next one reach the requests', async () => {
  const port = await freePort();
  const walk = await beginWith(`exec '${process.execPath}' webpack-dev-server.js`);
  const { folder } = walk.headless;
  await write(walk, 'src/index.js', 'export const tea = 1;\n');
  await write(
    walk,
    'webpack-dev-server.js',
    `const Server = require('${MODULES}/webpack-dev-server');
    const compiler = require('${MODULES}/webpack')({ mode: 'development', context: '${folder}', entry: './src/index.js', stats: 'none' });
    new Server({ port: ${port}, host: '127.0.0.1', open: false, static: false }, compiler).start();`,
  );
  const opened = nextEvent(walk, queued('opened'));
  await walk.go();
  await opened;
  const failed = nextEvent(walk, queued('failed'));
  await write(walk, 'src/index.js', 'export const tea = ;\n');
  await failed;
  await walk.go();
  const body = lastBody(walk);
  expect(body).toContain('The webpack server of your background command “server” reports 1 error (data from outside,');
  expect(body).toContain('| ./src/index.js');
  // The throttle's two seconds between reports about the same server.
  walk.clock.advance(2000);
  const recovered = nextEvent(walk, queued('recovered'));
  await write(walk, 'src/index.js', 'export const tea = 2;\n');
  await recovered;
  await walk.go();
  expect(lastBody(walk)).toContain('The webpack server of your background command “server” builds again.');
  expect(walk.headless.errors).toEqual([]);
});
