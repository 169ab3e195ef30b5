// A conversation of the real extension in the real editor that has read files and gets notifications about them.
import * as assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { type ConversationLog } from '../../../src/core/conversation/log.ts';
import { type Earshot } from '../../../src/core/earshot.ts';
import { type Notification } from '../../../src/protocol/notification.ts';
import { type ScriptedAnswer, type ScriptedServer, startScriptedServer } from '../models/scriptedServer.ts';
import { eventually, startedExtension } from './startedExtension.ts';

const DONE: ScriptedAnswer = { text: ['Done.'] };

export function call(name: string, args: unknown, id = `${name}-${Math.random()}`): ScriptedAnswer {
  return { calls: [{ id, name, arguments: args }] };
}

export function folder(): string {
  const root = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  assert.ok(root);
  return root;
}

export function inFolder(path: string): string {
  return join(folder(), path);
}

export async function git(...args: readonly string[]): Promise<void> {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' };
  const who = ['-c', 'user.name=Tea Shop', '-c', 'user.email=shop@example.com'];
  await promisify(execFile)('git', ['-C', folder(), ...who, ...args], { env });
}

export async function setting(name: string, value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration('earshot').update(name, value, vscode.ConfigurationTarget.Global);
}

export class Listening {
  readonly log: ConversationLog;
  readonly #earshot: Earshot;
  readonly #server: ScriptedServer;

  constructor(log: ConversationLog, earshot: Earshot, server: ScriptedServer) {
    this.log = log;
    this.#earshot = earshot;
    this.#server = server;
  }

  /** Runs a turn with these answers; returns the last message of the last request. */
  async turn(...answers: readonly ScriptedAnswer[]): Promise<string> {
    this.#server.restart(...answers, DONE);
    const sent = await this.#earshot.send(this.log.id, 'Go on.');
    assert.ok(sent.ok, JSON.stringify(sent));
    await this.#earshot.settled(this.log.id);
    const { messages } = JSON.parse(this.#server.requests.at(-1)?.body ?? '{}') as { messages: { content: unknown }[] };
    return JSON.stringify(messages.findLast(({ content }) => content !== null)?.content);
  }

  read(...paths: readonly string[]): Promise<string> {
    const calls = paths.map((path) => ({
      id: `read-${path}-${Math.random()}`,
      name: 'read_file',
      arguments: { path },
    }));
    return this.turn({ calls });
  }

  get pending(): readonly Notification[] {
    return this.log.state.pending.notifications;
  }

  /** The pending notifications as kind and first line; if several have the same subject, only the newest. */
  get pendingLines(): string[] {
    const newest = new Map(
      this.pending.map((one) => [`${one.kind.source}.${one.kind.name} ${one.subject ?? one.id}`, one]),
    );
    return [...newest.values()].map(
      ({ kind, message }) => `${kind.source}.${kind.name} ${message.split('\n')[0] ?? ''}`,
    );
  }

  waitForPending(expected: RegExp): Promise<string> {
    return eventually(
      () => this.pendingLines,
      (waiting) => waiting.some((one) => expected.test(one)),
    ).then((waiting) => waiting.find((one) => expected.test(one)) ?? '');
  }

  waitForNonePending(): Promise<readonly string[]> {
    return eventually(
      () => this.pendingLines,
      (waiting) => waiting.length === 0,
    );
  }
}

/** The extension with a scripted endpoint, without approvals, and without telling which editor is active. */
export async function startScripted(): Promise<{ readonly earshot: Earshot; readonly server: ScriptedServer }> {
  const server = await startScriptedServer();
  const { earshot } = await startedExtension();
  await setting('baseUrl', server.baseUrl);
  await setting('model', 'scripted');
  await setting('approvals.mode', 'all');
  await setting('editorContext', 'off');
  await eventually(
    () => vscode.workspace.getConfiguration('earshot').get('baseUrl'),
    (value) => value === server.baseUrl,
  );
  return { earshot, server };
}

/** Configures the extension for a scripted endpoint and restores everything after the suite. */
export function useListening(): {
  begin(): Promise<Listening>;
  /** For a conversation that was reopened. */
  resume(log: ConversationLog): Listening;
  readonly earshot: Earshot;
  readonly server: ScriptedServer;
} {
  const state: { earshot?: Earshot; server?: ScriptedServer } = {};
  const open: string[] = [];
  before(async () => {
    Object.assign(state, await startScripted());
  });
  afterEach(async () => {
    for (const id of open.splice(0)) await state.earshot?.close(id);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await git('checkout', '-qf', 'main');
    await git('clean', '-fdq');
  });
  after(async () => {
    for (const name of ['baseUrl', 'model', 'approvals.mode', 'editorContext']) await setting(name, undefined);
    await state.server?.stop();
  });
  return {
    get earshot() {
      assert.ok(state.earshot);
      return state.earshot;
    },
    get server() {
      assert.ok(state.server);
      return state.server;
    },
    resume(log) {
      open.push(log.id);
      return new Listening(log, this.earshot, this.server);
    },
    async begin() {
      const opened = await this.earshot.create();
      assert.ok(opened.ok);
      open.push(opened.value.log.id);
      return new Listening(opened.value.log, this.earshot, this.server);
    },
  };
}
