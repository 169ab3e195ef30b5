// The link to the web chat is on the command line of the browser, where every process of the user can read it. A process
// that a command of Earshot has left behind gets no right by it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LINK_VALID_MILLISECONDS } from '../../../src/protocol/webChat.ts';
import { probeWebChat } from '../../../src/vscode/plugins/webChatAddress.ts';
import { linkCode } from '../../../src/vscode/plugins/webChatLink.ts';
import { PageTokens } from '../../../src/webchat/pageTokens.ts';
import { answerApprovals } from '../../support/answerApprovals.ts';
import { atTestEnd } from '../../support/endings.ts';
import { openStream } from '../../support/webchat/pageStream.ts';
import { createWebChatWorld, freshCode, KEY, type WebChatWorld } from '../../support/webchat/webChatWorld.ts';

/**
 * Looks for links to the web chat on all command lines, and tries what it finds as a code and as a token: to open a
 * page and to approve the call `victim` in it. Writes the answers to a file.
 */
const INTRUDER = `
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
const [, , origin, report, when] = process.argv;
writeFileSync(report + '.on', '');
const parent = process.ppid;
// Without its environment and session nothing connects it to the command once its parent has ended.
while (when === 'orphan' && process.ppid === parent) await setTimeout(20);
const read = (pid) => { try { return readFileSync('/proc/' + pid + '/cmdline', 'utf8'); } catch { return ''; } };
const links = readdirSync('/proc').flatMap((pid) => read(pid).split('\\0')).filter((word) => word.startsWith(origin + '/#'));
const answers = [];
const send = async (path, secret, body) => {
  const headers = { authorization: 'Bearer ' + secret, 'content-type': 'application/json' };
  const response = await fetch(origin + '/' + path, { method: body === undefined ? 'GET' : 'POST', headers, body });
  answers.push(path.split('?')[0] + ' ' + response.status);
  return response;
};
for (const link of new Set(links)) {
  const code = link.slice(origin.length + 2).split('&')[0];
  const exchanged = await send('exchange', code, '');
  for (const secret of exchanged.ok ? [await exchanged.text(), code] : [code]) {
    const stream = await send('stream?page=intruder-1&conversation=' + (link.split('&')[1] ?? ''), secret);
    stream.body?.pipeTo(new WritableStream()).catch(() => {});
    for (let round = 0; round < (stream.ok ? 20 : 1); round += 1) {
      const approve = { type: 'approve', tool_call_id: 'victim', action: 'approve' };
      const sent = await send('messages?page=intruder-1', secret, JSON.stringify(approve));
      if (sent.ok) await setTimeout(50);
    }
  }
}
writeFileSync(report, JSON.stringify([...new Set(answers)]));
process.exit(0);
`;

const run = (id: string, command: string) => ({ calls: [{ id, name: 'run_command', arguments: { command } }] });

/** A process whose command line has the link, as xdg-open and the browser have it. */
async function openLink(world: WebChatWorld, code: string): Promise<void> {
  const browser = spawn('sh', ['-c', 'echo; sleep 600', 'browser', `${world.origin}/#${code}`], { detached: true });
  atTestEnd(async () => void process.kill(-(browser.pid ?? 0), 'SIGKILL'));
  await once(browser.stdout, 'data');
}

const exchange = (world: WebChatWorld, code: string) =>
  fetch(`${world.origin}/exchange`, { method: 'POST', headers: { authorization: `Bearer ${code}` } });

/** A command leaves the intruder behind; it tries while the next call waits for its approval. */
async function leaveIntruder(world: WebChatWorld, conversation: string, prefix: string, when = ''): Promise<string[]> {
  const { folder } = world.headless;
  const [script, report] = [join(folder, 'intruder.mjs'), join(folder, 'report')];
  await writeFile(script, INTRUDER);
  const node = `'${process.execPath}' --no-warnings '${script}' '${world.origin}' '${report}' '${when}'`;
  const started = `${prefix} ${node} </dev/null >/dev/null 2>&1 & until [ -e '${report}.on' ]; do sleep 0.05; done`;
  world.model.script(run('start', started), run('victim', 'touch stolen'), { text: ['Done.'] });
  answerApprovals(world.frontends.requests, async ({ call }) => {
    if (call.id === 'start') return 'approve';
    await expect.poll(() => existsSync(report), { timeout: 10_000 }).toBe(true);
    return 'reject';
  });
  await world.turn(conversation);
  expect(existsSync(join(folder, 'stolen'))).toBe(false);
  return JSON.parse(await readFile(report, 'utf8')) as string[];
}

test('a process left behind by a command finds the link of an open page on a command line, and cannot use it', async () => {
  const world = await createWebChatWorld();
  const [conversation, code] = [await world.conversation(), freshCode()];
  await openLink(world, `${code}&${conversation}`);
  const token = await (await exchange(world, code)).text();
  const answers = await leaveIntruder(world, conversation, 'setsid');
  expect(answers).toEqual(['exchange 403', 'stream 403', 'messages 403']);
  expect(world.output.join('')).toContain('A process that a command of Earshot has started tried to use the web chat.');
  // The page is not affected.
  await openStream(world, { page: 'page-0001', since: '0', conversation }, token);
});

test('it cannot use a link before its page does', async () => {
  const world = await createWebChatWorld();
  const [conversation, code] = [await world.conversation(), freshCode()];
  await openLink(world, `${code}&${conversation}`);
  expect(await leaveIntruder(world, conversation, 'setsid')).toEqual(['exchange 403', 'stream 403', 'messages 403']);
  expect((await exchange(world, code)).status).toBe(200);
});

test('a process that hides where it comes from cannot use the link of an open page', async () => {
  const world = await createWebChatWorld();
  const [conversation, code] = [await world.conversation(), freshCode()];
  await openLink(world, `${code}&${conversation}`);
  expect((await exchange(world, code)).status).toBe(200);
  const answers = await leaveIntruder(world, conversation, 'env -i setsid', 'orphan');
  expect(answers).toEqual(['exchange 401', 'stream 401', 'messages 401']);
});

test('a link that is used again closes the page that it had opened; other pages stay open', async () => {
  const world = await createWebChatWorld();
  const [first, other] = [freshCode(), freshCode()];
  const tokens = await Promise.all([first, other].map(async (code) => (await exchange(world, code)).text()));
  const streams = await Promise.all(
    tokens.map((token, index) => openStream(world, { page: `page-000${index}`, since: '0', conversation: '' }, token)),
  );
  expect((await exchange(world, first)).status).toBe(401);
  await streams[0]?.ended;
  const status = async (token: string) =>
    (await fetch(`${world.origin}/messages?page=x`, { method: 'POST', headers: { authorization: `Bearer ${token}` } }))
      .status;
  // 400: the token is accepted, the id of the page is not.
  expect(await Promise.all(tokens.map(status))).toEqual([401, 400]);
  expect(world.output.join('')).toContain('A link to the web chat was used again');
});

test('after a restart of the web chat an open page keeps its token, and a link from before is not accepted', async () => {
  const world = await createWebChatWorld();
  const [used, unused] = [freshCode(), freshCode()];
  const token = await (await exchange(world, used)).text();
  await world.host.stop('web-chat');
  await world.startWebChat();
  expect((await exchange(world, used)).status).toBe(401);
  expect((await exchange(world, unused)).status).toBe(401);
  await openStream(world, { page: 'page-0001', since: '0', conversation: '' }, token);
  expect((await exchange(world, freshCode())).status).toBe(200);
});

test('codes expire, differ, and cannot be changed or taken for tokens', () => {
  let time = 1000;
  const second: string[] = [];
  const tokens = new PageTokens({ key: KEY, now: () => time, usedTwice: (link) => second.push(link) });
  const [one, two, late] = [linkCode(KEY, time), linkCode(KEY, time), linkCode(KEY, time)];
  expect(new Set([one, two, late]).size).toBe(3);
  for (const code of ['', '..', KEY, linkCode(`${KEY}x`, time), one.replace('.1000.', '.9999999999999.')]) {
    expect([code, tokens.exchange(code)]).toEqual([code, undefined]);
    expect([code, tokens.linkOf(code)]).toEqual([code, undefined]);
  }
  expect(tokens.linkOf(one)).toBeUndefined();
  const token = tokens.exchange(one) ?? '';
  expect(tokens.linkOf(token)).toBe(one.split('.')[0]);
  expect(tokens.exchange(token)).toBeUndefined();
  time += LINK_VALID_MILLISECONDS;
  expect(tokens.exchange(two)).toBeDefined();
  time += 1;
  expect(tokens.exchange(late)).toBeUndefined();
  expect(second).toEqual([]);
});

test('the proof of the address is neither a code nor a token, whatever text it is asked for', async () => {
  const world = await createWebChatWorld();
  const now = String(Date.now());
  const prove = async (text: string) => {
    const response = await fetch(`${world.origin}/probe?${new URLSearchParams({ text })}`);
    return response.headers.get('x-earshot') ?? '';
  };
  expect((await probeWebChat(`${world.origin}/`, KEY)).reach).toBe('reached');
  for (const text of [`link forged ${now}`, `forged ${now}`]) {
    expect((await exchange(world, `forged.${now}.${await prove(text)}`)).status).toBe(401);
  }
  for (const text of ['page forged', 'forged']) {
    const headers = { authorization: `Bearer forged.${await prove(text)}` };
    expect((await fetch(`${world.origin}/stream?page=page-0001`, { headers })).status).toBe(401);
  }
});
