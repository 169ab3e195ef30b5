// The sources besides the editor's for a day of work: what the debugger, dev servers, test runners, notebooks, lock files, CI
// and scripts report, through the real producers where these need no other program, and the reports of the others.

import { type AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { Emitter } from '../../src/base/emitter.ts';
import { failed, succeeded } from '../../src/base/errors.ts';
import { type ConversationLog } from '../../src/core/conversation/log.ts';
import { type Producer, type Publisher } from '../../src/core/ports/ports.ts';
import { type CellRun, type DebugMessage, type FileTouch, type FocusedEditor } from '../../src/core/ports/sources.ts';
import { createDebugProducer } from '../../src/producers/debug/debug.ts';
import { createDependenciesProducer } from '../../src/producers/dependencies/dependencies.ts';
import { createDevServersProducer } from '../../src/producers/devServers/devServers.ts';
import { createFocusProducer } from '../../src/producers/focus.ts';
import { draftCiFailed, draftCiPassed, draftReviews } from '../../src/producers/forge/forgeReports.ts';
import { describeEvents, draftOf } from '../../src/producers/mcpEvents/eventReports.ts';
import { createNotebooksProducer } from '../../src/producers/notebooks.ts';
import { type OpenPort, type OpenPorts } from '../../src/producers/ports/openPorts.ts';
import { createPortsProducer } from '../../src/producers/ports/ports.ts';
import { draftScriptLines } from '../../src/producers/scripts/scriptReports.ts';
import { createTestReportsProducer } from '../../src/producers/testReports/testReports.ts';
import { type NotificationDraft } from '../../src/protocol/notification.ts';
import { atTestEnd } from '../support/endings.ts';
import { type EarParts, type Ears } from './playHour.ts';

const MINUTE = 60_000;
const SHA = '3f2a91c0d7b1e5a4c2f8890aa01b2c3d4e5f6a7b';
const lock = (versions: Readonly<Record<string, string>>) =>
  JSON.stringify({
    lockfileVersion: 3,
    packages: Object.fromEntries(
      Object.entries(versions).map(([name, version]) => [`node_modules/${name}`, { version }]),
    ),
  });
const SAID = 'expected 42, got NaN';
const inXml = (text: string) => text.replace(/[&<>"]/g, (one) => `&#${one.codePointAt(0)};`);
const junit = (failing: readonly string[], says: string) => {
  const names = new Set([...Array.from({ length: 12 }, (_, index) => `orders ${index}`), ...failing]);
  const cases = [...names].map((name) => {
    const failure = failing.includes(name)
      ? `<failure message="${inXml(says)}">${inXml(`at ${says === SAID ? 'total.test.ts:12' : says}`)}</failure>`
      : '';
    return `<testcase classname="orders" name="${inXml(name)}">${failure}</testcase>`;
  });
  return `<testsuites><testsuite name="orders">${cases.join('')}</testsuite></testsuites>`;
};

/** Files that these sources read, by path; the producers see them in place of the workspace's. */
const LOCK = 'package-lock.json';
const REPORT = 'reports/junit.xml';

/** What people and programs of a day do, minute by minute; each hour plays some of it. */
interface DayFacts {
  /** The key of the conversation. */
  readonly key: string;
  looksAt(path: string, lines?: readonly [number, number]): void;
  exception(text: string): Promise<void>;
  breakpoint(line: number): Promise<void>;
  goesOn(): void;
  programFails(output?: string): void;
  startsServer(): Promise<void>;
  buildFails(file: string, message: string): Promise<void>;
  buildWorks(): Promise<void>;
  tests(failing: readonly string[], says?: string): void;
  cell(error?: string, name?: string): void;
  installs(versions: Readonly<Record<string, string>>): void;
  ciFails(): Promise<void>;
  ciPasses(): Promise<void>;
  /** In one look. */
  reviews(...by: readonly (readonly [author: string, text: string])[]): Promise<void>;
  script(text: string): Promise<void>;
  /** The conversation asked for these. */
  mcpEvent(id: string, data: object): Promise<void>;
}

export type DayPlan = readonly (readonly [minute: number, act: (day: DayFacts) => Promise<void> | void])[];

export async function dayEars(plan: DayPlan): Promise<Ears> {
  const report = (error: unknown) => {
    throw error;
  };
  const messages = new Emitter<DebugMessage>(report);
  const cells = new Emitter<CellRun>(report);
  const touches = new Emitter<FileTouch>(report);
  const files = new Map([[LOCK, lock({ cup: '1.0.0', kettle: '2.0.0' })]]);
  let editor: FocusedEditor | undefined;
  let publisher: Publisher | undefined;
  let parts: EarParts | undefined;
  let log: ConversationLog | undefined;
  const listeners: Parameters<OpenPorts['follow']>[0][] = [];
  const server = new WebSocketServer({ port: 0, host: 'localhost' });
  await new Promise((listening) => server.once('listening', listening));
  atTestEnd(() => new Promise<void>((closed) => server.close(() => closed())));
  const client = new Promise<WebSocket>((resolve) => server.once('connection', (socket) => resolve(socket)));
  const ports: Pick<OpenPorts, 'follow'> = {
    follow: (one) => {
      listeners.push(one);
      return { dispose: () => undefined };
    },
  };
  const file = (path: string) => ({ path, absolute: `/shop/${path}` });
  const ownFiles = {
    folders: [file('')],
    resolve: async (path: string) => succeeded(file(path)),
    read: async ({ path }: { readonly path: string }) =>
      files.has(path)
        ? succeeded({ bytes: Buffer.from(files.get(path) ?? ''), unsaved: false })
        : failed('not_found', path),
  };
  const publish = async (draft: NotificationDraft) => {
    await publisher?.publish(draft, idOf());
  };
  const idOf = () => log?.id ?? '';
  const now = () => parts?.clock.now() ?? 0;
  const session = {
    ...{ id: 'd', root: { id: 'd', name: 'Launch shop' }, type: 'pwa-node', absolute: (path: string) => path },
    request: async (command: string) =>
      command === 'stackTrace'
        ? {
            stackFrames: ['src/orders.ts', 'src/menu.ts', 'src/receipt.ts'].map((path, index) => ({
              ...{ id: index, name: `step${index}`, line: 3 + index, column: 1, source: { path: `/shop/${path}` } },
            })),
          }
        : {},
  };
  const debug = (event: string, body: object) =>
    messages.fire({ session, type: 'from_debugger', message: { type: 'event', event, body } });
  const say = async (message: unknown) => {
    const socket = await client;
    socket.send(JSON.stringify(message));
    // The producer answers a ping after it has read the message.
    const read = new Promise((resolve) => socket.once('pong', resolve));
    socket.ping();
    await read;
  };
  const touch = (path: string, text: string) => {
    files.set(path, text);
    touches.fire({ type: 'changed', path });
  };
  const commit = {
    ...{ repository: 'github.com/acme/shop', branch: 'main', sha: SHA, by: 'edited' as const, title: 'Count lines' },
    at: '2026-01-01T00:00:00.000Z',
  };
  const checkOf = (name: string, state: 'failed' | 'passed') => ({
    ...{ name, state, ended: now(), seconds: 184, summary: '', job: 1, annotated: undefined },
  });
  const failureLog = Array.from({ length: 15 }, (_, index) => `  at step${index} (src/orders.ts:${index + 12}:9)`);
  const day: DayFacts = {
    get key() {
      return log?.state.turn.key ?? '';
    },
    looksAt: (path, lines) => {
      editor = { path, ...(lines && { selection: { first: lines[0], last: lines[1], text: 'x' } }) };
    },
    exception: async (text) => debug('stopped', { reason: 'exception', text, threadId: 1 }),
    breakpoint: async () => debug('stopped', { reason: 'breakpoint', threadId: 1 }),
    goesOn: () => debug('continued', { threadId: 1 }),
    programFails: (output = 'TypeError: total is not a function\n    at src/orders.ts:12\n') => {
      debug('output', { category: 'stderr', output });
      debug('exited', { exitCode: 1 });
      messages.fire({ session, type: 'ended' });
    },
    startsServer: async () => {
      const { port } = server.address() as AddressInfo;
      const process = { command: 'npm run dev' };
      await log?.append({ type: 'handle_started', name: 'web', pid: 812, start_time: '', tool_call_id: 'r0' });
      const handle = { name: 'web', conversation: idOf(), run: 'r', process } as unknown as OpenPort['handle'];
      for (const one of listeners) one.opened({ handle, port, pid: 812, everywhere: false, command: 'node vite' });
    },
    buildFails: (path, message) =>
      say({ type: 'error', err: { message, loc: { file: `/shop/${path}`, line: 3, column: 1 } } }),
    buildWorks: () => say({ type: 'update', updates: [] }),
    tests: (failing, says = SAID) => touch(REPORT, junit(failing, says)),
    cell: (error, name = 'KeyError') =>
      cells.fire({ path: 'sales.ipynb', cell: 3, ...(error && { error: { name, message: error } }) }),
    installs: (versions) => touch(LOCK, lock(versions)),
    ciFails: () => {
      const unit = checkOf('test / linux', 'failed');
      const checks = [unit, checkOf('lint', 'passed'), checkOf('build', 'passed')];
      const details = {
        step: 'npm test',
        lines: failureLog,
        annotations: [],
        whole: 'gh run view 12 -R acme/shop --log-failed',
      };
      return publish(
        draftCiFailed({ commit, conversation: idOf(), now: now() }, checks, [[unit, details]], 'failed: test'),
      );
    },
    ciPasses: () =>
      publish(draftCiPassed({ commit, conversation: idOf(), now: now() }, [checkOf('test', 'passed')], 'passed')),
    reviews: (...by) => {
      const pull = {
        number: 7,
        url: 'https://github.com/acme/shop/pull/7',
        state: 'open' as const,
        sha: SHA,
        feedback: [],
      };
      const news = by.map(([author, text]) => ({
        ...{ id: author + text, author, what: 'commented' as const, text, at: now(), path: 'src/orders.ts', line: 12 },
      }));
      return publish(
        draftReviews(
          { commit, conversation: idOf(), now: now() },
          { ...pull, ended: undefined, verdict: 'none' },
          news,
        ),
      );
    },
    script: (text) => {
      const entry = { at: new Date(now()).toISOString(), dir: '/shop', text, name: 'deploy', level: 'info' as const };
      const addressed = { conversation: idOf(), wake: false, run: undefined, sender: undefined };
      return publish(draftScriptLines([{ id: text, entry, written: now() }], addressed));
    },
    mcpEvent: (id, data) => {
      const at = new Date(now()).toISOString();
      const subscription = { name: 's/issue.updated', server: 's', event: 'issue.updated' } as Parameters<
        typeof describeEvents
      >[0];
      const text = describeEvents(
        subscription,
        [{ id, at, data } as unknown as Parameters<typeof describeEvents>[1][number]],
        false,
      );
      return publish(draftOf({ conversation: idOf(), subscription, at }, 'event', text));
    },
  };
  const outside: Producer = {
    name: 'outside',
    start: (given) => {
      publisher = given;
      return { dispose: () => undefined };
    },
  };
  return {
    files: { 'sales.ipynb': '{}' },
    read: ['sales.ipynb'],
    producers: (given) => {
      parts = given;
      const { workspace } = given;
      return [
        createDebugProducer({
          ...{ ...given, debugger: { onDidMessage: messages.event }, mayShowLocals: () => false },
          // The recording's files have no folder on disk.
          workspace: {
            resolve: (path) => workspace.resolve(path.replace('/shop/', '')),
            mayShow: (one) => workspace.mayShow(one),
            read: (one) => workspace.read(one),
            decode: (one, bytes) => workspace.decode(one, bytes),
          },
        }),
        createPortsProducer({ ...given, ports }),
        createDevServersProducer({ ...given, ports }),
        createTestReportsProducer({
          ...given,
          ...{ editorFiles: { onDidTouch: touches.event }, workspace: ownFiles, reports: () => ['reports/*.xml'] },
        }),
        createNotebooksProducer({ ...given, notebooks: { onDidRun: cells.event } }),
        createDependenciesProducer({ ...given, editorFiles: { onDidTouch: touches.event }, workspace: ownFiles }),
        createFocusProducer({
          ...{ workspace, editor: { current: () => editor, onDidChange: () => ({ dispose: () => undefined }) } },
          context: () => 'file',
        }),
        outside,
      ];
    },
    facts: plan.map(([minute, act]) => ({
      at: minute * MINUTE,
      happens: async (given) => {
        log = given;
        await act(day);
      },
    })),
  };
}
