// The hub program under faults, with senders that repeat every request without an answer, as real members do, and the
// check that each message is there exactly once.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import { type HubAddress } from '../../../src/protocol/hub.ts';
import { builtProgram } from '../builtProgram.ts';
import { compileCache } from '../compileCache.ts';
import { type Answer, type TestClient, unixClient } from '../testHub.ts';

export class HubUnderFaults {
  /** The ids of messages that were answered, by `client_id`. */
  readonly acknowledged = new Map<string, string>();
  /** How often a request had to be repeated. */
  repeated = 0;
  #senders = 0;
  readonly #home: string;
  readonly #command: readonly string[];
  #child: ChildProcess | undefined;
  #address = Promise.withResolvers<HubAddress>();
  #stopping = false;
  /** Messages whose repetition was answered with another id. */
  readonly #otherIds: string[] = [];
  #watching: { count: number; reached: () => void } | undefined;

  private constructor(home: string, command: readonly string[]) {
    this.#home = home;
    this.#command = command;
  }

  /** `command` runs the program, for example with faults. */
  static async create(command: readonly string[] = []): Promise<HubUnderFaults> {
    const home = await mkdtemp(join(tmpdir(), 'earshot-faults-'));
    await mkdir(join(home, 'work'));
    return new HubUnderFaults(home, command);
  }

  async remove(): Promise<void> {
    this.#stopping = true;
    await this.kill();
    await rm(this.#home, { recursive: true, force: true });
  }

  /** Starts the program. Resolves once it serves; false: it ended before. */
  async start(command = this.#command): Promise<boolean> {
    const run = [...command, process.execPath];
    const args = [
      '--no-warnings',
      await builtProgram('src/bin/hub.ts'),
      '--dir',
      join(this.#home, 'work'),
      '--port',
      '0',
    ];
    const child = spawn(run[0] ?? '', [...run.slice(1), ...args], {
      env: { ...process.env, ...(command.length === 0 && compileCache), HOME: this.#home, EARSHOT_HOME: this.#home },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.#child = child;
    const line = await new Promise<string | undefined>((found) => {
      createInterface({ input: child.stdout }).once('line', found);
      child.once('exit', () => found(undefined));
    });
    if (line === undefined) return false;
    child.once('exit', () => (this.#address = Promise.withResolvers()));
    this.#address.resolve(JSON.parse(line) as HubAddress);
    return true;
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Resolves when the program has ended by itself. */
  get ended(): Promise<unknown> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
    return once(child, 'exit');
  }

  /** Resolves after this many further acknowledgements. */
  acknowledgements(count: number): Promise<void> {
    return new Promise((reached) => (this.#watching = { count, reached }));
  }

  /** Sends one message after the other, and repeats each until it is acknowledged, until `enough`. */
  async sendAs(name: string, enough: () => boolean, structured?: unknown): Promise<void> {
    let client: TestClient | undefined;
    this.#senders += 1;
    for (let number = 0; !enough() || client === undefined; ) {
      if (this.#stopping) return;
      try {
        client ??= await this.#join(name);
        const id = `${name}:${number}`;
        const send = () => client?.call('message.send', { content: id, client_id: id, structured });
        this.#acknowledge(id, await send());
        number += 1;
        // Once more, as a client does whose answer got lost.
        this.#acknowledge(id, await send());
      } catch {
        this.repeated += 1;
        client?.close();
        client = undefined;
        // Lets the event loop notice that the program has ended.
        await new Promise((later) => setTimeout(later, 5));
      }
    }
    client.close();
    this.#senders -= 1;
  }

  get isSending(): boolean {
    return this.#senders > 0;
  }

  /** Every acknowledged message is listed and stored once, with the id that was answered, in the order of its sender. */
  async check(): Promise<void> {
    expect(this.#otherIds).toEqual([]);
    const reader = await this.#join('reader');
    const listed: { id: string; content: string }[] = [];
    for (let after = 'c0', more = true; more; ) {
      const page = (await reader.call('message.list', { after, limit: 100 })) as {
        messages: { message_id: string; body: { content: string } }[];
        after: string;
        more: boolean;
      };
      listed.push(...page.messages.map(({ message_id: id, body }) => ({ id, content: body.content })));
      ({ after, more } = page);
    }
    reader.close();
    const ids = new Map(listed.map(({ id, content }) => [content, id]));
    expect([...this.acknowledged].filter(([content, id]) => ids.get(content) !== id)).toEqual([]);
    expect(listed).toHaveLength(this.acknowledged.size);
    expect(ids.size).toBe(listed.length);
    const last = new Map<string, number>();
    for (const { content } of listed) {
      const [name = '', number = ''] = content.split(':');
      expect(Number(number)).toBe((last.get(name) ?? -1) + 1);
      last.set(name, Number(number));
    }
    expect(await this.#storedIds()).toEqual([...this.acknowledged.keys()].toSorted());
  }

  async #storedIds(): Promise<string[]> {
    const names = (await readdir(this.#home, { recursive: true })).filter((name) =>
      /messages.[^/\\]+\.jsonl$/.test(name),
    );
    const texts = await Promise.all(names.map((name) => readFile(join(this.#home, name), 'utf8')));
    const lines = texts.flatMap((text) => text.split('\n').filter((line) => line !== ''));
    return lines.map((line) => (JSON.parse(line) as { client_id: string }).client_id).toSorted();
  }

  async #join(name: string): Promise<TestClient> {
    const { socket } = await this.#address.promise;
    const client = await unixClient(socket);
    try {
      await client.call('agent.register', { name });
      await client.call('session.start', { agent_id: name });
      // Pushes are part of the load.
      await client.call('subscribe', { all: true });
      return client;
    } catch (error) {
      client.close();
      throw error;
    }
  }

  #acknowledge(id: string, answer: Answer | undefined): void {
    const message = String(answer?.['message_id']);
    const first = this.acknowledged.get(id);
    if (first !== undefined && first !== message) this.#otherIds.push(`${id} ${first} ${message}`);
    if (first !== undefined) return;
    this.acknowledged.set(id, message);
    if (this.#watching === undefined) return;
    this.#watching.count -= 1;
    if (this.#watching.count <= 0) this.#watching.reached();
  }
}
